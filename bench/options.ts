import { parseArgs } from "node:util"
import { MAX_PASSAGES } from "../core/engine/library.ts"
import { isVariant, type OursName, variants, type VariantName } from "./contender.ts"
import { type Workload, workloads } from "./run-workload.ts"

export const USAGE = `npm run bench -- [--quick | --full] [--workload w1,w3] [--only pawl-normal] [--passages 50000] [--out folder]
npm run bench -- --profile <variant> <workload>

--quick    a smoke run of under 20 s: checks answers and transcripts, judges no times
--full     longer, three rounds, 2,000 turns in W2: before claiming anything
--only     ours: ${Object.keys(variants)
  .filter((name) => name.startsWith("pawl-"))
  .join(", ")}; their floors run with them
--passages how many W8 searches through SQLite, instead of what the size says; one person has ${MAX_PASSAGES} at most
--profile  where the CPU goes, for any variant: ${Object.keys(variants).join(", ")}`

export interface Options {
  readonly size: "quick" | "usual" | "full"
  readonly workloads: readonly Workload[]
  readonly only: readonly OursName[] | undefined
  readonly passages: number | undefined
  readonly out: string | undefined
  readonly profile: { readonly variant: VariantName; readonly workload: Workload } | undefined
}

/** Throws a TypeError with the problem. */
export function readOptions(args: readonly string[]): Options {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      quick: { type: "boolean" },
      full: { type: "boolean" },
      workload: { type: "string" },
      only: { type: "string" },
      passages: { type: "string" },
      out: { type: "string" },
      profile: { type: "boolean" },
    },
  })
  if (positionals.length !== (values.profile ? 2 : 0)) throw new TypeError(`unexpected: ${positionals.join(" ")}`)
  const [variant = "", workload = ""] = positionals
  return {
    size: values.quick ? "quick" : values.full ? "full" : "usual",
    workloads: values.workload?.split(",").map(toWorkload) ?? workloads,
    only: values.only?.split(",").map(toOurs),
    passages: values.passages === undefined ? undefined : toPassages(values.passages),
    out: values.out,
    profile: values.profile ? { variant: toVariant(variant), workload: toWorkload(workload) } : undefined,
  }
}

function toPassages(text: string): number {
  const count = Number(text)
  if (Number.isInteger(count) && count > 0 && count <= MAX_PASSAGES) return count
  throw new TypeError(`--passages ${text}: a whole number up to ${MAX_PASSAGES}, which is what one person may have`)
}

function toWorkload(text: string): Workload {
  const found = workloads.find((workload) => workload === text.trim().toLowerCase())
  if (!found) throw new TypeError(`no workload "${text}"; there are ${workloads.join(", ")}`)
  return found
}

function toVariant(text: string): VariantName {
  const name = text.trim()
  if (!isVariant(name)) throw new TypeError(`no variant "${text}"; there are ${Object.keys(variants).join(", ")}`)
  return name
}

function toOurs(text: string): OursName {
  const name = toVariant(text)
  if (!name.startsWith("pawl-")) throw new TypeError(`"${name}" is a floor: it runs beside ours`)
  return name as OursName
}
