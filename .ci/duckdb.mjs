// Reads run directories with DuckDB and compares what it finds with summary.json.
// Arguments: the npm prefix that has DuckDB, docs/results.md, and folders with results/*.
import { readFileSync, readdirSync, existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'

const [modules, page, ...folders] = process.argv.slice(2)
const docs = readFileSync(page, 'utf8')
const { DuckDBInstance } = createRequire(join(resolve(modules), 'x'))('@duckdb/node-api')
const db = await (await DuckDBInstance.create()).connect()
let checks = 0
let failures = 0

// rows returns the rows of a query as objects; integers wider than a double stay exact as text.
async function rows(sql) {
  return (await db.runAndReadAll(sql)).getRowObjectsJson()
}

async function one(sql) {
  return Object.values((await rows(sql))[0])[0]
}

function check(what, got, want) {
  checks++
  if (String(got) !== String(want)) {
    failures++
    console.error(`duckdb: ${what}: ${got} in the table, ${want} expected`)
  }
}

// near is for sums of doubles, whose last digits depend on the order.
function near(what, got, want) {
  const a = Number(got ?? NaN)
  const same = got === null || want === null ? got === want : Math.abs(a - want) <= 1e-9 * Math.max(Math.abs(want), 1e-3)
  check(what, same ? want : got, want)
}

async function checkRun(dir) {
  const summary = JSON.parse(readFileSync(join(dir, 'summary.json')))
  const manifest = JSON.parse(readFileSync(join(dir, 'manifest.json')))
  const run = { dir, summary, manifest, metrics: summary.metrics, file: (name) => `'${join(dir, name)}.parquet'` }
  for (const step of [checkCounts, checkQuantiles, checkBooks, checkSpent, checkQueues, checkDecisions, checkSamples, checkMetadata]) {
    await step(run)
  }
}

const measured = `state != 'future' and not carried`

async function checkCounts({ dir, metrics, file }) {
  const jobs = file('jobs')
  for (const [metric, where] of [
    ['submitted', 'true'], ['finished', `state = 'finished'`], ['failed', `state = 'failed'`],
    ['deactivated', `state = 'deactivated'`], ['unstarted', 'start_ns is null'], ['unfinished', 'finish_ns is null'],
  ]) {
    check(`${dir}: jobs.${metric}`, await one(`select count(*) from ${jobs} where ${measured} and ${where}`), metrics[`jobs.${metric}`])
  }
  check(`${dir}: requeues`, await one(`select sum(requeues)::bigint from ${jobs}`), metrics.requeues)
  for (const metric of Object.keys(metrics).filter((m) => m.startsWith('evictions.'))) {
    const column = metric.replace('.', '_')
    check(`${dir}: ${metric}`, await one(`select sum(${column})::bigint from ${jobs}`), metrics[metric])
  }
}

// Nearest-rank quantiles over all jobs, those without a value counting as infinite.
async function checkQuantiles({ dir, metrics, file }) {
  for (const [name, column, unit, suffix] of [
    ['wait', 'wait_ns', 1e9, '_seconds'], ['admission_wait', 'admission_wait_ns', 1e9, '_seconds'],
    ['jct', 'jct_ns', 1e9, '_seconds'], ['bounded_slowdown', 'bounded_slowdown', 1, ''],
  ]) {
    const values = (await rows(`select ${column} as v from ${file('jobs')} where ${measured} order by ${column} nulls last`)).map((r) => r.v)
    for (const [p, q] of [[50, 'p50'], [90, 'p90'], [95, 'p95'], [99, 'p99'], [100, 'max']]) {
      const v = values[Math.ceil((p * values.length) / 100) - 1]
      near(`${dir}: ${name}.${q}`, v === null ? null : Number(v) / unit, metrics[`${name}.${q}${suffix}`])
    }
    if (unit !== 1) {
      near(`${dir}: ${name}.mean`, await one(`select avg(${column}) / 1e9 from ${file('jobs')} where ${measured}`), metrics[`${name}.mean_seconds`])
    }
  }
}

async function checkBooks({ dir, summary, metrics, file }) {
  const ledger = file('ledger')
  for (const model of summary.gpu_models) {
    for (const a of model.accounts) {
      const where = `model = '${model.model}' and account = '${a.account}'`
      check(`${dir}: ${model.model} ${a.account}`, await one(`select sum(milli_gpu_ns)::varchar from ${ledger} where ${where}`), a.milli_gpu_ns)
    }
  }
  for (const a of summary.gpu_models[0].accounts) {
    near(`${dir}: ${a.account}`, await one(`select sum(gpu_hours) from ${ledger} where account = '${a.account}'`), metrics[`gpu_hours.${a.account}`])
  }
  const buckets = `select model, sum(milli_gpu_ns) as held, end_ns - time_ns as width from ${ledger} group by model, time_ns, end_ns`
  const whole = `select model, sum(milli_gpu_ns) // ${summary.end_ns} as capacity from ${ledger} group by model`
  const uneven = `select count(*) from (${buckets}) join (${whole}) using (model) where held != capacity * width`
  check(`${dir}: buckets that are not capacity x time`, await one(uneven), 0)
  check(`${dir}: end of the last bucket`, await one(`select max(end_ns) from ${ledger}`), summary.end_ns)
}

async function checkSpent({ dir, metrics, file }) {
  for (const account of ['useful', 'stall_locality', 'stall_contention', 'lost']) {
    near(`${dir}: ${account} of all jobs`, await one(`select sum(${account}_gpu_hours) from ${file('jobs')}`), metrics[`gpu_hours.${account}`])
  }
}

// What queues bound is what the books say was bound, and jobs that were never evicted were
// pending from their submission to their admission, or the end.
async function checkQueues({ dir, summary, metrics, file }) {
  const [queues, ledger, jobs] = [file('queues'), file('ledger'), file('jobs')]
  const bound = ['useful', 'stall_locality', 'stall_contention', 'lost', 'checkpoint', 'starting', 'held']
  near(`${dir}: bound GPU-hours`, await one(`select sum(bound_gpus * (end_ns - time_ns)) / 3.6e12 from ${queues}`),
    bound.reduce((sum, a) => sum + metrics[`gpu_hours.${a}`], 0))
  check(`${dir}: buckets of the queues`, await one(`select list(distinct time_ns order by time_ns)::varchar from ${queues}`),
    await one(`select list(distinct time_ns order by time_ns)::varchar from ${ledger}`))
  if ((await one(`select count(*) from ${jobs} where state = 'backoff' or requeues > 0`)) == 0) {
    near(`${dir}: pending job-hours`, await one(`select sum(pending_jobs * (end_ns - time_ns)) / 3.6e12 from ${queues}`),
      await one(`select sum(coalesce(first_admit_ns, ${summary.end_ns}) - submit_ns) / 3.6e12 from ${jobs} where state != 'future'`))
  }
  check(`${dir}: more is borrowed than charged`, await one(`select count(*) from ${queues} where borrowed_gpus > charged_gpus + 1e-9`), 0)
}

// decisions.parquet holds what the digest is made of: six 64-bit words per transition, FNV-1a.
async function checkDecisions({ dir, manifest, metrics, file }) {
  const kinds = ['', 'submit', 'admit', 'bind', 'ready', 'barrier', 'evict', 'requeue', 'deactivate', 'finish', 'fail', 'verdict']
  const bytes = Buffer.alloc(48)
  let digest = 0xcbf29ce484222325n
  const all = await rows(`select time_ns, kind, job, rank, place, count from ${file('decisions')}`)
  for (const t of all) {
    const words = [t.time_ns, kinds.indexOf(t.kind), t.job, t.rank, t.place, t.count]
    words.forEach((w, i) => bytes.writeBigInt64LE(BigInt(w), 8 * i))
    for (const b of bytes) {
      digest = ((digest ^ BigInt(b)) * 0x100000001b3n) & 0xffffffffffffffffn
    }
  }
  check(`${dir}: digest of the decisions`, digest.toString(16).padStart(16, '0'), manifest.digest)
  check(`${dir}: requeues among the decisions`, all.filter((t) => t.kind === 'requeue').length, metrics.requeues)
}

async function checkSamples({ dir, summary, metrics, file }) {
  if (!existsSync(join(dir, 'series.parquet'))) {
    return check(`${dir}: samples without a series`, summary.fragmentation.samples, 0)
  }
  const sum = (metric) => one(`select sum(value)::bigint from ${file('series')} where metric = '${metric}' and level is null`)
  near(`${dir}: fragmentation.fgd_mean`, Number(await sum('fgd')) / Number(await sum('free')), metrics['fragmentation.fgd_mean'])
  check(`${dir}: samples`, await one(`select count(distinct time_ns) from ${file('series')}`), summary.fragmentation.samples)
}

// Every column has a unit and a doc, every file the manifest; names are dictionaries, all is zstd.
async function checkMetadata({ dir, file }) {
  const manifest = JSON.stringify(JSON.parse(readFileSync(join(dir, 'manifest.json'))))
  for (const name of readdirSync(dir).filter((f) => f.endsWith('.parquet')).map((f) => f.replace('.parquet', ''))) {
    const kv = await rows(`select decode(key) as key, decode(value) as value from parquet_kv_metadata(${file(name)})`)
    const meta = Object.fromEntries(kv.map((r) => [r.key, r.value]))
    check(`${dir}/${name}: manifest`, JSON.stringify(JSON.parse(meta['gangplan.manifest'])), manifest)
    const columns = JSON.parse(meta['gangplan.columns'])
    const described = (await rows(`describe select * from ${file(name)}`)).map((r) => r.column_name)
    check(`${dir}/${name}: columns`, Object.keys(columns), described)
    check(`${dir}/${name}: columns without a unit or doc`, described.filter((c) => !columns[c]?.unit || !columns[c]?.doc), '')
    check(`${dir}/${name}: compression`, await one(`select string_agg(distinct compression) from parquet_metadata(${file(name)})`), 'ZSTD')
    const plain = await rows(`select distinct path_in_schema as c from parquet_metadata(${file(name)}) where type = 'BYTE_ARRAY'
      and not contains(encodings, 'DICTIONARY') and not (path_in_schema = 'id' and ${name === 'jobs'})`)
    check(`${dir}/${name}: names that are no dictionary`, plain.map((r) => r.c), '')
  }
}

// The queries of the docs run as they are written, from the folder above results.
async function checkDocs(folder) {
  process.chdir(folder)
  const queries = [...docs.matchAll(/duckdb -c "([^"]*)"/g)].map((m) => m[1])
  check('queries in the docs', queries.length > 5, true)
  for (const sql of queries) {
    checks++
    try {
      if ((await rows(sql)).length === 0) throw new Error('no rows')
    } catch (err) {
      failures++
      console.error(`duckdb: the docs' ${sql}: ${err.message}`)
    }
  }
}

let runs = 0
for (const folder of folders) {
  const results = resolve(folder, 'results')
  for (const name of readdirSync(results).sort()) {
    await checkRun(join(results, name))
    runs++
  }
}
for (const folder of folders) {
  await checkDocs(resolve(folder))
}
console.log(`duckdb: ${checks} checks on ${runs} runs, ${failures} failed`)
process.exit(failures === 0 && runs > 0 ? 0 : 1)
