import { whenWords } from "../time/words.ts"

/** What a provider's failure is told with: who it was, and its own sentence where it gave one. */
export interface FromProvider {
  readonly provider: string
  readonly problem?: string | undefined
}

/** The provider's own sentence, beside ours: it may say what ours cannot know. */
const inItsWords = ({ problem }: FromProvider): string => (problem ? ` It says: "${problem}"` : "")

/** When it makes sense again, as far as the provider has said. */
export interface Later {
  readonly retryAfterMs?: number
  readonly retryAt?: string
}

const againIn = ({ retryAfterMs, retryAt }: Later): string =>
  retryAfterMs === undefined ? "in a while" : whenWords(retryAfterMs, retryAt)

/** What may go wrong between us and a model. */
export const modelErrors = {
  no_model_selected: {
    status: 409,
    say: (d: { choices: string; setting?: string | undefined }) =>
      `No model is chosen. Choose one for the conversation, or set ${d.setting ?? "PAWL_MODEL"} for all of them: ${d.choices}.`,
  },
  unknown_model: {
    status: 400,
    say: (d: { name: string; choices: string }) => `There is no model "${d.name}". Known: ${d.choices}.`,
  },
  model_unavailable: {
    status: 400,
    say: (d: { model: string; need: string }) => `${d.model} cannot be chosen yet: ${d.need}.`,
  },
  not_configured: {
    status: 409,
    say: (d: { model: string; need: string }) => `${d.model} is not configured: ${d.need}.`,
  },
  // Nothing was sent: its endpoint says so.
  model_lacks_tools: {
    status: 409,
    say: (d: { model: string; agent: string }) =>
      `${d.model} takes no tools, and ${d.agent} works with tools. Choose another model for this conversation.`,
  },
  auth: {
    status: 502,
    say: (d: FromProvider) =>
      `${d.provider} refused our key; check it where the key is set and try again.${inItsWords(d)}`,
  },
  rate_limited: {
    status: 503,
    say: (d: FromProvider & Later) => `${d.provider} limits our rate; try again ${againIn(d)}.${inItsWords(d)}`,
  },
  // Of money or a month's share, which no waiting brings back.
  quota_spent: {
    status: 502,
    say: (d: FromProvider) =>
      `What may be used at ${d.provider} with our key is used up; add credit or raise the limit there, or choose another model.${inItsWords(d)}`,
  },
  overloaded: {
    status: 503,
    say: (d: FromProvider & Later) => `${d.provider} is overloaded; try again ${againIn(d)}.${inItsWords(d)}`,
  },
  context_overflow: {
    status: 502,
    say: (d: FromProvider) =>
      `The conversation is longer than ${d.provider}'s model can read; start a new one or fork it.${inItsWords(d)}`,
  },
  refused: { status: 502, say: (d: FromProvider) => `${d.provider} declined to answer this.${inItsWords(d)}` },
  provider_error: {
    status: 502,
    say: (d: { provider: string; problem: string; todo?: string | undefined }) =>
      `${d.provider}: ${d.problem}${d.todo ? `${/[.!?]$/.test(d.problem) ? "" : "."} ${d.todo}` : ""}`,
  },
  answer_unfit: {
    status: 502,
    say: (d: { problem: string; times: number }) =>
      `The answer does not fit what was promised, also after it was mended ${d.times} times: ${d.problem}`,
  },
  model_silent: {
    status: 504,
    say: (d: { provider: string; seconds: number }) =>
      `${d.provider} sent nothing for ${d.seconds} s; the run was ended.`,
  },
} as const
