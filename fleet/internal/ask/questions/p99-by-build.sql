-- How long the slowest of each name take, by build.
-- param q number 0.99 the quantile
-- param kind text task task, wait, hold or process
-- param service text % services like this
-- param name text % names like this
-- param since text 0000 the first date, as 2026-01-31
-- param until text 9999 the last date
-- param limit integer 1000 how many rows
with counted as (
  select name, build, bucket, sum(n * weight) as n
  from durations
  where kind = $kind and service like $service and name like $name and "date" between $since and $until
  group by name, build, bucket
), ranked as (
  select name, build, bucket,
    sum(n) over (partition by name, build order by bucket rows between unbounded preceding and current row) as upto,
    sum(n) over (partition by name, build) as total
  from counted
)
select name, build, max(total) as n,
  min(case when upto < $q * total then null when bucket < 0 then 0e0 else power(2e0, (bucket + 5e-1) / 16e0) / 1e6 end) as quantile_ms
from ranked
group by name, build
order by name, build
limit $limit
