-- wrk's side: a random request out of one file, with a random token out of another, for as long as it is asked.
-- wrk -s requests.lua URL -- REQUESTS TOKENS EXPECTED KEYED
-- A line of REQUESTS is "GET /path" or "POST /path {json}". EXPECTED is a status that every answer must have;
-- 0 leaves it to wrk, which counts what is neither 2xx nor 3xx. With 1 for KEYED every request has an Idempotency-Key of
-- its own.

local threads = {}

function setup(thread)
  thread:set("other", 0)
  table.insert(threads, thread)
end

local function lines_of(name)
  local found = {}
  for line in io.lines(name) do
    found[#found + 1] = line
  end
  return found
end

local function split(line)
  local method, path, body = line:match("^(%S+) (%S+) ?(.*)$")
  local ending = "\r\n\r\n"
  if body ~= "" then
    ending = "\r\nContent-Type: application/json\r\nContent-Length: " .. #body .. "\r\n\r\n" .. body
  end
  return method .. " " .. path .. " HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ", ending
end

function init(arguments)
  beginnings, endings, tokens = {}, {}, lines_of(arguments[2])
  for number, line in ipairs(lines_of(arguments[1])) do
    beginnings[number], endings[number] = split(line)
  end
  math.randomseed(os.time())
  keyed, keys = arguments[4] == "1", 0
  key = "\r\nIdempotency-Key: " .. os.time() .. "-" .. math.random(1000000000) .. "-"
  local expected = tonumber(arguments[3])
  if expected > 0 then
    -- defined only when needed: with it, wrk hands every answer to Lua
    response = function(status)
      if status ~= expected then
        other = other + 1
      end
    end
  end
end

function request()
  local number = math.random(#beginnings)
  if keyed then
    keys = keys + 1
    return beginnings[number] .. tokens[math.random(#tokens)] .. key .. keys .. endings[number]
  end
  return beginnings[number] .. tokens[math.random(#tokens)] .. endings[number]
end

function done(summary, latency)
  local other = 0
  for _, thread in ipairs(threads) do
    other = other + thread:get("other")
  end
  local errors = summary.errors
  io.write(string.format(
    '\n{"requests":%d,"seconds":%.6f,"p50_ms":%.3f,"p99_ms":%.3f,"bad":%d,"other":%d,"broken":%d}\n',
    summary.requests, summary.duration / 1e6, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3,
    errors.status, other, errors.connect + errors.read + errors.write + errors.timeout
  ))
end
