/** A reply of the models of `docs/guide/coming-from`: a text, or a call of a tool. */
export type GuideReply = { readonly text: string } | { readonly call: string; readonly input: object }

/** By the last message of the user. The message to a sub-agent is its task. */
const SCRIPTS: Readonly<Record<string, readonly GuideReply[]>> = {
  "Why is the sky blue?": [{ text: "Air scatters blue light more than red." }],
  "My name is Ada.": [{ text: "Hello, Ada." }],
  "What is my name?": [{ text: "Your name is Ada." }],
  "How many bolts are there?": [{ call: "count_stock", input: { part: "bolt" } }, { text: "There are 40 bolts." }],
  "Pay invoice 2041: 90 euros.": [
    { call: "pay_invoice", input: { invoice: "2041", euros: 90 } },
    { text: "Invoice 2041 is paid." },
  ],
  "Where was the last meeting?": [{ text: '{"city":"Rome"}' }],
  "Have invoice 2041 paid.": [
    { call: "ask_clerk", input: { task: "Pay invoice 2041: 90 euros." } },
    { text: "The clerk has paid it." },
  ],
}

/** A message of a request: its text, if it is the user's, and whether it is the model's. */
export interface GuideMessage {
  readonly user?: string
  readonly isReply?: boolean
}

/** The next reply of the script to these messages. */
export function guideReply(messages: readonly GuideMessage[]): GuideReply {
  const last = messages.findLastIndex(({ user }) => user !== undefined)
  const question = messages[last]?.user ?? ""
  const replies = messages.slice(last).filter(({ isReply }) => isReply).length
  const reply = SCRIPTS[question]?.[replies]
  if (!reply) throw new Error(`The guide's model has no reply ${replies + 1} to ${JSON.stringify(question)}.`)
  return reply
}
