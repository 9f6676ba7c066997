-- One request everywhere: what has its trace id, by time, as each host's clock has it.
-- param id text ! the trace id, 32 hexadecimal digits
-- param since text 0000 the first date, as 2026-01-31
-- param until text 9999 the last date
-- param limit integer 10000 how many rows
with found as (
  select start_time, service, host, name, kind, duration_ns / 1e6 as took_ms, is_open, span_id, parent_id, track, goroutine, args, run
  from scopes
  where trace_id = lower($id) and "date" between $since and $until
  union all
  select start_time, service, host, name, 'event', cast(null as double), is_open, span_id, parent_id, track, goroutine, args, run
  from events
  where trace_id = lower($id) and "date" between $since and $until
), told as (
  -- Of a scope that was open in one snapshot and had ended in a later one, the end.
  select *, row_number() over (partition by run, name, kind, coalesce(span_id, cast(start_time as varchar)) order by is_open, start_time) as place
  from found
)
select start_time, service, host, name, kind, took_ms, is_open, span_id, parent_id, track, goroutine, args, run
from told
where place = 1
order by start_time, host, span_id
limit $limit
