// Reads a finished sweep with DuckDB and compares what it finds with sweep.json. Arguments:
// the npm prefix that has DuckDB, and the folder of the sweep.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'

const [modules, dir] = process.argv.slice(2)
const { DuckDBInstance } = createRequire(join(resolve(modules), 'x'))('@duckdb/node-api')
const db = await (await DuckDBInstance.create()).connect()
const index = JSON.parse(readFileSync(join(dir, 'sweep.json')))
let checks = 0
let failures = 0

function check(what, got, want) {
  checks++
  if (String(got) !== String(want)) {
    failures++
    console.error(`duckdb: ${what}: ${got} in the table, ${want} expected`)
  }
}

async function rows(sql) {
  return (await db.runAndReadAll(sql)).getRowObjectsJson()
}

const quoted = (name) => `"${name.replaceAll('"', '""')}"`

// A row of runs.parquet per cell, with the metrics of the index.
const runs = await rows(`select * from '${join(dir, 'runs.parquet')}'`)
check('rows of runs.parquet', runs.length, index.cells.length)
for (const [i, cell] of index.cells.entries()) {
  for (const [name, value] of Object.entries(cell.metrics)) {
    check(`${cell.values}: ${name}`, runs[i][name], value)
  }
}

// All jobs of all cells as one table, found by the values of the axes.
const axes = index.axes.map((a) => quoted(a.name)).join(', ')
const counts = await rows(`select ${axes}, count(*) as jobs, count(finish_ns) as finished
  from read_parquet('${join(dir, 'data/**/jobs.parquet')}', hive_partitioning = true, hive_types_autocast = false)
  where state != 'future' and not carried group by all`)
const found = new Map(counts.map((r) => [index.axes.map((a) => r[a.name]).join(' | '), r]))
check('cells in data', found.size, index.cells.length)
for (const cell of index.cells) {
  const row = found.get(cell.values.join(' | '))
  check(`${cell.values}: jobs`, row?.jobs, cell.metrics['jobs.submitted'])
  check(`${cell.values}: finished`, row?.finished, cell.metrics['jobs.finished'])
}

console.log(`duckdb: ${checks} checks of a sweep of ${index.cells.length} cells, ${failures} failed`)
process.exit(failures > 0 ? 1 : 0)
