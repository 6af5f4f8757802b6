/** One request to an address that a person or a model may have a say in. */
export interface WebRequest {
  readonly url: string
  readonly method?: "GET" | "POST"
  /** Sent to this host only: a redirect to another one goes without. */
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  readonly seconds?: number
  readonly mostBytes?: number
}

export interface WebAnswer {
  /** Where it came from in the end. */
  readonly url: string
  readonly status: number
  readonly type: string
  readonly text: string
  /** There was more than is taken. */
  readonly cut: boolean
  /** How long it asks us to wait before we come again, and until when. */
  readonly retryAfterMs?: number
  readonly retryAt?: string
}

/** The way out for tools: public addresses only, judged at connect, also after each redirect (promise 23). */
export interface Web {
  /** Throws `host_not_allowed`, or `web_unreachable` with what went wrong. An answer of any status is an answer. */
  fetch(request: WebRequest, signal: AbortSignal): Promise<WebAnswer>
}
