-- What those do who hold the locks that others wait for, over the fleet.
-- param service text % services like this
-- param name text % locks like this
-- param since text 0000 the first date, as 2026-01-31
-- param until text 9999 the last date
-- param limit integer 40 how many rows
with waited as (
  select name, coalesce(holder_within, '(unknown)') as holder_in, count(distinct host) as hosts, count(*) as waits,
    sum(duration_ns * weight) as ns, max(duration_ns) as longest
  from waits
  where service like $service and name like $name and "date" between $since and $until and not is_open
  group by name, coalesce(holder_within, '(unknown)')
)
select name as lock, holder_in, hosts, waits, ns / 1e9 as waited_s, longest / 1e6 as longest_ms,
  ns / sum(ns) over () as share
from waited
where ns > 0
order by ns desc, name, holder_in
limit $limit
