import { readFile } from "node:fs/promises"
import { EvalFileFault } from "../file/read-eval-file.ts"
import { EvalReport } from "./report.ts"

/** The report of an earlier run, as `--save` or `--json` wrote it. */
export async function readReport(path: string): Promise<EvalReport> {
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    throw new EvalFileFault(`${path}: it cannot be read (${error.code}).`)
  })
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch (error) {
    throw new EvalFileFault(`${path}: it is not JSON: ${(error as Error).message}.`)
  }
  const { data, error } = EvalReport.safeParse(json)
  if (data) return data
  const { path: field = [], message } = error.issues[0] ?? {}
  throw new EvalFileFault(
    `${path}: it is no report of pawl eval: ${field.map(String).join(".") || "it"}: ${message}. \`pawl eval FILE --save ${path}\` writes one.`,
  )
}
