-- The thread as it is before the script changes it.
local thread = read_all(K.thread)
