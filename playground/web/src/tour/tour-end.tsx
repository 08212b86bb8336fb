/** Suggestions after the last step. */
export function TourEnd() {
  return (
    <div className="tour-finished">
      <h3>That was the tour. What to try next:</h3>
      <ul>
        <li>
          Edit <code>manifest.yml</code>, such as the limit of <code>refund_order</code>, and ask again: the
          running bot takes it over.
        </li>
        <li>
          Be Gil, the guest, and click Approve on a card: the rules are checked at the click, not by hiding
          it.
        </li>
        <li>Open the tab Record beside a thread: votes, timers, the audit chain, what the model sees.</li>
        <li>
          Say hello to the bot: it lists what else it understands, such as a form, a call-back, and files by
          MCP.
        </li>
        <li>
          Set <code>OPENAI_API_KEY</code> and start the playground again, to talk to a real model.
        </li>
      </ul>
    </div>
  );
}
