import type { Client } from "../../client/index.ts"
import type { EvalScript } from "../file/script.ts"

/** A whole Pawl with nothing in it, for one run of one case, and gone with all that it was given. */
export interface EvalPlace extends AsyncDisposable {
  readonly client: Client
  /** The folder that its files agent works in; undefined where the case has none. */
  readonly folder: string | undefined
  /** Where SQLite files have to lie to be connected to, those of each person in a folder of theirs. */
  readonly databases: string
  /** How often its script was asked for a reply. */
  asked(): number
}

export interface PlaceNeeds {
  readonly hasFolder: boolean
  /** Played in the place of a model, under the name `SCRIPTED`. */
  readonly script: EvalScript | undefined
  /** Played in the place of a judge, one for each time that it is asked, under the name `SCRIPTED_JUDGE`. */
  readonly verdicts: readonly JudgeVerdict[]
}

export type OpenPlace = (needs: PlaceNeeds) => Promise<EvalPlace>

/** What a judge says. */
export interface JudgeVerdict {
  readonly pass: boolean
  readonly reason: string
}

export const SCRIPTED = "scripted"
export const SCRIPTED_JUDGE = "scripted-judge"
/** The agent that judges, which stands beside those of the packs. */
export const JUDGE = "evaluation-judge"
