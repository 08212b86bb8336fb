-- The thread as it is before the script changes it.
local thread = read(K.thread, 'token', 'owner', 'lease_until', 'open', 'committed', 'quarantine', 'v')
