-- What changed between two builds, with an interval for each change.
-- A host has one quantile of each name and build; the hosts' logarithms are compared by Welch's
-- t-test. The interval has a confidence of 95% (its t by the expansion of Cornish and Fisher,
-- within 0.5% from 5 degrees of freedom on), if hosts are alike and independent of each other.
-- Names with fewer than two hosts in either build are left out.
-- param before text ! the older build
-- param after text ! the newer build
-- param q number 0.99 the quantile
-- param least integer 100 how many scopes a host must have of a name
-- param kind text task task, wait, hold or process
-- param service text % services like this
-- param name text % names like this
-- param since text 0000 the first date, as 2026-01-31
-- param until text 9999 the last date
-- param limit integer 40 how many rows
with counted as (
  select name, build, host, bucket, sum(n * weight) as n
  from durations
  where kind = $kind and service like $service and name like $name and "date" between $since and $until
    and build in ($before, $after)
  group by name, build, host, bucket
), ranked as (
  select name, build, host, bucket,
    sum(n) over (partition by name, build, host order by bucket rows between unbounded preceding and current row) as upto,
    sum(n) over (partition by name, build, host) as total
  from counted
), hosts as (
  select name, build, host,
    min(case when upto >= $q * total then (bucket + 5e-1) / 16e0 * ln(2e0) end) as x
  from ranked
  where total >= $least
  group by name, build, host
), builds as (
  select name, build, count(*) as hosts, avg(x) as middle, var_samp(x) / count(*) as e
  from hosts
  group by name, build
  having count(*) >= 2
), pairs as (
  select a.name, b.hosts as hosts_before, a.hosts as hosts_after, b.middle as old, a.middle - b.middle as d,
    a.e + b.e as e, power(a.e + b.e, 2e0) / greatest(power(a.e, 2e0) / (a.hosts - 1) + power(b.e, 2e0) / (b.hosts - 1), 1e-300) as free
  from builds a join builds b on a.name = b.name
  where a.build = $after and b.build = $before
), wide as (
  select name, hosts_before, hosts_after, old, d,
    sqrt(e) * (1.959964e0 + 2.372271e0 / greatest(free, 1e0) + 2.822500e0 / power(greatest(free, 1e0), 2e0)
      + 2.555850e0 / power(greatest(free, 1e0), 3e0) + 1.589536e0 / power(greatest(free, 1e0), 4e0)) as w
  from pairs
)
select name, hosts_before, hosts_after, exp(old) / 1e6 as before_ms, exp(old + d) / 1e6 as after_ms,
  100 * (exp(d) - 1) as change_percent, 100 * (exp(d - w) - 1) as low_percent, 100 * (exp(d + w) - 1) as high_percent,
  case when d - w > 0 then 'slower' when d + w < 0 then 'faster' else 'not sure' end as verdict
from wide
order by case when d - w > 0 or d + w < 0 then 0 else 1 end, abs(d) desc, name
limit $limit
