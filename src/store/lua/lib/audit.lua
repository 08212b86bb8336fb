-- Appends a row to the audit log. The chain covers its version, its number, its time, the event, the subject, what the script knows, and the
-- digest of the caller's body; the body itself is covered by its digest.
-- The form of a row and of its body; a reader of every version stays for ever.
local ROW_VERSION = '1'
local chain = nil
local function audit(event, subject, detail, body, digest)
  if not chain then
    local head = redis.call('HMGET', K.head, 'seq', 'hash')
    chain = { seq = head[1] or '0', hash = head[2] or '' }
    at_end(function() redis.call('HSET', K.head, 'seq', chain.seq, 'hash', chain.hash) end)
  end
  chain.seq = int(chain.seq + 1)
  chain.hash = redis.sha1hex(table.concat({ chain.hash, ROW_VERSION, chain.seq, NOW, event, subject, detail, digest }, '\n'))
  redis.call('XADD', K.audit, chain.seq .. '-0', 't', NOW, 'e', event, 's', subject, 'd', detail, 'b', body, 'h', chain.hash, 'v', ROW_VERSION)
  for _, value in ipairs({ event, subject, detail, facts_of[subject] and facts_of[subject]() or '' }) do events[#events + 1] = value end
end
