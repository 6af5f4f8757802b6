/** The notice that another model answers. Loose, because older and newer servers may have recorded other fields. */
interface ToldFallback {
  readonly from?: string | undefined
  readonly to?: string | undefined
  readonly because?: string | undefined
  readonly passed?: readonly { readonly model: string; readonly because: string }[] | undefined
  readonly earlier?: true | undefined
}

/** Which model answers instead, and why, in a sentence for the person. */
export function fallbackWords({ from = "", to = "", because = "", passed = [], earlier }: ToldFallback): string {
  const why = `${troubleWords(because)}${earlier ? " a moment ago" : ""}`
  const others = passed.map(({ model, because: its }) => `${model}, which ${troubleWords(its)}`)
  const between = others.length > 0 ? ` Skipped: ${others.join("; ")}.` : ""
  return `${to} answers instead of ${from}, which ${why}.${between}`
}

/** A short reason for a model's failure, by its error code. */
export function troubleWords(code: string): string {
  switch (code) {
    case "rate_limited":
      return "reached its rate limit"
    case "overloaded":
      return "was overloaded"
    case "quota_spent":
      return "had no quota left"
    case "model_silent":
      return "sent nothing for too long"
    case "auth":
      return "rejected the API key"
    case "not_configured":
    case "model_unavailable":
      return "is not configured"
    case "unknown_model":
      return "does not exist on this server"
    case "context_overflow":
      return "has too small a context window for this conversation"
    case "over_budget":
      return "would have exceeded a cost limit"
    default:
      return "could not be reached or failed"
  }
}
