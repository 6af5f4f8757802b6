import { Phrases } from "./packed-text.ts"

const INPUT_TOKENS = '","usage":{"inputTokens":'

export const callPhrases = new Phrases(['[{"id":"call_'], ['","name":"', '","input":{', "}}]"])

const replies = new Phrases(
  ['{"model":"'],
  [
    ...[INPUT_TOKENS, ',"outputTokens":', ',"cachedTokens":', ',"cost":', ',"provider":"', '","paidBy":"shared"'],
    '},"request":"',
  ],
)

/** Of a reply that says what it has used. */
export const INPUT_TOKENS_LETTER = replies.sqlLetter(INPUT_TOKENS)

const proposals = new Phrases(
  ['{"proposals":[{', '{"proposal":{'],
  [
    ',"action":"destructive_update","summary":"',
    ',"action":"safe_create","summary":"',
    ',"action":"safe_update","summary":"',
    ',"action":"destructive_delete","summary":"',
    ...['","hash":"', '","tool":"', '","expiresAt":', ',"undoable":true}'],
  ],
  { pairs: true },
)

/** What the bodies of events are packed with, by the letters of their types. Those of other types lie there as they are. */
export const bodyPhrases: Readonly<Record<string, Phrases>> = {
  c: new Phrases(['{"agent":"'], ['","mode":"confirm"}']),
  r: new Phrases(['{"maxIterations":'], [',"timeZone":"']),
  a: replies,
  w: proposals,
  p: proposals,
  d: new Phrases(['{"proposalId":"prop_'], ['","decision":"commit","by":"']),
  x: new Phrases(['{"status":"completed"'], []),
}
