/** A reply of the models of `docs/guide/coming-from`: a text, or a call of a tool. */
export type GuideReply = { readonly text: string } | { readonly call: string; readonly input: object }

/** By the first message of the conversation, because a sub-agent has its own. */
const SCRIPTS: Readonly<Record<string, readonly GuideReply[]>> = {
  "Why is the sky blue?": [{ text: "Air scatters blue light more than red." }],
  "My name is Ada.": [{ text: "Hello, Ada." }, { text: "Your name is Ada." }],
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

/** The reply to a conversation with this first message and so many replies. */
export function guideReply(first: string, replies: number): GuideReply {
  const reply = SCRIPTS[first]?.[replies]
  if (!reply) throw new Error(`The guide's model has no reply ${replies + 1} to ${JSON.stringify(first)}.`)
  return reply
}
