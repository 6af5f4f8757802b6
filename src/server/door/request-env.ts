import type { HttpBindings } from "@hono/node-server"
import type { Caller } from "./ports.ts"

/** What every route finds in its context; `caller` only behind the door. */
export interface Env {
  Variables: { caller: Caller; source: RequestSource; requestId: string; route: string | undefined }
  Bindings: Partial<HttpBindings> | undefined
}

/** How a request came to us, as far as that can be believed. */
export interface RequestSource {
  /** Of the caller, or of the last proxy that we do not trust; undefined where nothing was connected. */
  readonly address: string | undefined
  /** The name and port that the caller asked for. */
  readonly host: string
  /** How the caller came to a proxy of ours, where that one says so. */
  readonly scheme: "http" | "https" | undefined
}
