import type { Client } from "../../client/client.ts"
import type { ReplySettings } from "../../core/protocol/conversation/reply-settings.ts"
import type { Mode } from "../../core/protocol/schema.ts"

export interface WorkFolder {
  /** Its real path. */
  readonly root: string
  /** Its person has said that its files may be trusted. */
  readonly isTrusted: boolean
}

/** A Pawl that this terminal speaks to, in this process or far away. */
export interface TerminalServer {
  readonly client: Client
  /** Where that is, for the person: a folder, an address. */
  readonly where: string
  /** The folder that is worked in, if it is on this machine. */
  readonly workFolder?: WorkFolder
  /** Where what was written here is kept. */
  readonly historyFile: string
  readonly reflow: Reflow
  /** What somebody should know about the settings. */
  readonly warnings: readonly string[]
  /** What a new conversation gets where nobody chooses: the agent, and where its tools run. */
  readonly begins: {
    readonly agent?: string
    readonly model?: string | undefined
    readonly site?: "device"
    readonly deviceId?: string
  }
  /** In which folder a conversation works, where this machine knows. */
  folders?(): ReadonlyMap<string, string>
  /** Which conversation `--continue` means here. */
  newest(): Promise<string | undefined>
  /** The conversations of this folder. */
  readonly inFolder?: readonly string[]
  /** A conversation was begun, or gone on with. */
  entered(id: string): void
  close(): Promise<void>
}

/** A folder of which its person has not said yet whether they trust its files. */
export interface TrustQuestion {
  readonly folder: string
  answer(isTrusted: boolean): void
}

/**
 * What a terminal does with lines for which it has become too narrow. Most break them, and the cursor stays where it is in
 * its line; those made with xterm.js also shift it by the lines that were broken below it.
 */
export type Reflow = "cuts" | "breaks" | "breaks-and-shifts"

/** What new conversations begin with, as the person has chosen. */
export interface StartChoices {
  readonly agent?: string | undefined
  readonly model?: string | undefined
  /** Who answers where it cannot; null and undefined: as its agent or the server has it. */
  readonly fallback?: string[] | null | undefined
  readonly mode: Mode
  readonly settings?: ReplySettings | undefined
}
