-- Hosts on which a name takes much longer, or shorter, than on the median host.
-- A host is compared by the logarithm of its quantile; z is the distance from the median in
-- robust standard deviations (1.4826 × the median of all distances, at least 2.2%).
-- param q number 0.99 the quantile
-- param z number 3.5 how many standard deviations a host has to be off
-- param least integer 100 how many scopes a host must have of a name
-- param kind text task task, wait, hold or process
-- param service text % services like this
-- param name text % names like this
-- param since text 0000 the first date, as 2026-01-31
-- param until text 9999 the last date
-- param limit integer 40 how many rows
with counted as (
  select service, name, host, bucket, sum(n * weight) as n
  from durations
  where kind = $kind and service like $service and name like $name and "date" between $since and $until
  group by service, name, host, bucket
), ranked as (
  select service, name, host, bucket,
    sum(n) over (partition by service, name, host order by bucket rows between unbounded preceding and current row) as upto,
    sum(n) over (partition by service, name, host) as total
  from counted
), hosts as (
  select service, name, host, max(total) as n,
    min(case when upto >= $q * total then (bucket + 5e-1) / 16e0 * ln(2e0) end) as x
  from ranked
  where total >= $least
  group by service, name, host
), placed as (
  select service, name, host, n, x,
    row_number() over (partition by service, name order by x, host) as place,
    count(*) over (partition by service, name) as hosts
  from hosts
), medians as (
  select service, name, avg(x) as middle
  from placed
  where 2 * place between hosts and hosts + 2
  group by service, name
), off as (
  select p.service, p.name, p.host, p.n, p.x, p.hosts, m.middle,
    row_number() over (partition by p.service, p.name order by abs(p.x - m.middle), p.host) as place
  from placed p join medians m on p.service = m.service and p.name = m.name
), spreads as (
  select service, name, greatest(avg(abs(x - middle)) * 1.4826e0, 2.2e-2) as spread
  from off
  where 2 * place between hosts and hosts + 2
  group by service, name
)
select o.service, o.name, o.host, o.hosts, o.n, exp(o.x) / 1e6 as quantile_ms, exp(o.middle) / 1e6 as median_ms,
  (o.x - o.middle) / s.spread as z
from off o join spreads s on o.service = s.service and o.name = s.name
where abs(o.x - o.middle) / s.spread >= $z
order by abs(o.x - o.middle) / s.spread desc, o.name, o.host
limit $limit
