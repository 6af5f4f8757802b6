import { duration, humanName } from "../../src/client/index.ts"
import { escapeHidden } from "../parts/hidden-characters.ts"
import { time } from "../parts/words.ts"
import type { RunHead } from "./followed-run.ts"

/** `Completed · offline · 10:34 · 10.6 s`. */
export function headWords({ status, model, startedAt, endedAt }: RunHead): string {
  const took = endedAt === null ? [] : [duration(Date.parse(endedAt) - Date.parse(startedAt))]
  return [humanName(status), ...(model === null ? [] : [escapeHidden(model)]), time(startedAt), ...took].join(" · ")
}
