import type { Client } from "../../../client/index.ts"
import type { ReplySettings } from "../../../core/protocol/conversation/reply-settings.ts"
import type { Mode } from "../../../core/protocol/schema.ts"
import type { EvalCase } from "../file/eval-file.ts"
import type { EvalScript } from "../file/script.ts"

/** A new, empty Pawl for one run of one case, which is deleted afterwards. */
export interface EvalPlace extends AsyncDisposable {
  readonly client: Client
  /** The work folder of its files agent; undefined if the case has none. */
  readonly folder: string | undefined
  /** The folder of connectable SQLite files, with one folder for each user. */
  readonly databases: string
  /** The number of requests to its script. */
  asked(): number
}

interface PlaceNeeds {
  readonly hasFolder: boolean
  /** Replaces a model, under the name `SCRIPTED`. */
  readonly script: EvalScript | undefined
  /** Replaces a judge, one verdict per request, under the name `SCRIPTED_JUDGE`. */
  readonly verdicts: readonly JudgeVerdict[]
}

export type OpenPlace = (needs: PlaceNeeds) => Promise<EvalPlace>

/** The verdict of a judge. */
export interface JudgeVerdict {
  readonly pass: boolean
  readonly reason: string
}

export const SCRIPTED = "scripted"
export const SCRIPTED_JUDGE = "scripted-judge"
/** The agent that judges, in addition to those of the packs. */
export const JUDGE = "evaluation-judge"

/** One run of one case: its model, and the base of its paths. */
export interface CaseRun {
  readonly evalCase: EvalCase
  readonly agent: string | undefined
  readonly model: string | undefined
  readonly isScripted: boolean
  /** The model that judges each check; undefined for a scripted verdict. */
  readonly judges: readonly (string | undefined)[]
  readonly mode: Mode | undefined
  readonly settings: ReplySettings | undefined
  readonly base: string
}

/** Returns what a case needs from its environment. */
export function placeNeeds({ evalCase, agent, isScripted, judges }: CaseRun): PlaceNeeds {
  const { start = {}, expect, script } = evalCase
  const verdicts = (expect.judge ?? []).map((judge, index) => (judges[index] === undefined ? judge.script : undefined))
  return {
    hasFolder: agent === "files" || start.files !== undefined || start.folder !== undefined,
    script: isScripted ? script : undefined,
    verdicts: verdicts.filter((verdict) => verdict !== undefined),
  }
}
