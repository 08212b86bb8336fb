/** The end of the tour: how to connect a real Slack workspace, and what else to try here. */
export function TourEnd() {
  return (
    <div className="tour-finished">
      <h3>Connect your own Slack</h3>
      <ol>
        <li>
          Run <code>npx countersign init ../my-bot</code> in this folder. It asks for the tokens and the
          approvers, checks them in Slack, and writes <code>manifest.yml</code> and <code>.env</code>.
        </li>
        <li>
          Run <code>cd ../my-bot && npm install && npx countersign start</code>.
        </li>
      </ol>
      <h3>What to try next</h3>
      <ul>
        <li>
          Edit <code>manifest.yml</code>, for example the limit of <code>refund_order</code>, and send a
          request again: the running bot uses the new version.
        </li>
        <li>Switch to Gil, the guest, and click Approve on a card: the rules are checked at every click.</li>
        <li>Open the Record tab beside a thread: votes, timers, the audit chain, the model's messages.</li>
        <li>
          Send hello to the bot: it lists what else it understands, such as a form, a callback and files.
        </li>
        <li>
          Set <code>OPENAI_API_KEY</code> and restart the playground to use a real model.
        </li>
      </ul>
    </div>
  );
}
