-- The thread as it was before the script changes it.
local thread = read_all(K.thread)
