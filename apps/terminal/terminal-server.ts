import type { Client } from "../../client/client.ts"
import type { ReplySettings } from "../../core/protocol/conversation/reply-settings.ts"
import type { Mode } from "../../core/protocol/schema.ts"

export interface WorkFolder {
  readonly root: string
  /** The person has confirmed that its files can be trusted. */
  readonly isTrusted: boolean
}

/** The server that this terminal is connected to, in this process or remote. */
export interface TerminalServer {
  readonly client: Client
  /** Its folder or address, for display. */
  readonly where: string
  /** The work folder, if it is on this machine. */
  readonly workFolder?: WorkFolder
  /** The file of the input history. */
  readonly historyFile: string
  readonly reflow: Reflow
  /** Warnings about the settings. */
  readonly warnings: readonly string[]
  /** The files with instructions for agents that apply in the work folder. */
  readonly rules?: readonly string[]
  /** Defaults of a new conversation: the agent, and where its tools run. */
  readonly defaults: {
    readonly agent?: string
    readonly model?: string | undefined
    readonly site?: "device"
    readonly deviceId?: string
  }
  /** The folders of conversations by id, as far as this machine knows them. */
  folders?(): ReadonlyMap<string, string>
  /** The conversation that `--continue` opens. */
  newest(): Promise<string | undefined>
  readonly inFolder?: readonly string[]
  /** Called when a conversation was created or opened. */
  entered(id: string): void
  close(): Promise<void>
}

/** A question to answer before the first message: whether to trust the folder, or its changed instructions for agents. */
export interface TrustQuestion {
  readonly text: string
  answer(isYes: boolean): void
}

/**
 * A terminal's handling of lines that have become too long for it. Most wrap them, and the cursor keeps its position in
 * its line; those based on xterm.js also move it by the lines wrapped below it.
 */
export type Reflow = "cuts" | "breaks" | "breaks-and-shifts"

/** The person's choices for new conversations. */
export interface StartChoices {
  readonly agent?: string | undefined
  readonly model?: string | undefined
  /** Models that answer if the chosen one cannot; null or undefined for the default. */
  readonly fallback?: string[] | null | undefined
  readonly mode: Mode
  readonly settings?: ReplySettings | undefined
}
