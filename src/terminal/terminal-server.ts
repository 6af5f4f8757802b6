import type { Client } from "../client/client.ts"
import type { ReplySettings } from "../protocol/conversation/reply-settings.ts"
import type { Mode } from "../protocol/schema.ts"

/** A Pawl that this terminal speaks to, in this process or far away. */
export interface TerminalServer {
  readonly client: Client
  /** Where that is, for the person: a folder, an address. */
  readonly where: string
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
  /** A conversation was begun, or gone on with. */
  entered(id: string): void
  close(): Promise<void>
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
