/**
 * For the programs that a pack runs in their own process or thread: errors, and functions that read untrusted bytes with
 * bounds. It loads neither the engine nor a server, so that such a program starts fast. `pack.ts` exports all of it too.
 */

// Errors with a code, which cross processes.
export { AppError, codeOf, failure, hasCode } from "./protocol/errors.ts"
export { isId } from "./protocol/ids.ts"

// Text: decode bytes, repair what cannot be stored, look a foreign name up without finding what every object has.
export { binaryKind } from "./shared/encoding/binary-kind.ts"
export { charsetOfMarkup, type DecodedText, decodeText } from "./shared/encoding/decode-text.ts"
export { type Encoding, EncodingFinder } from "./shared/encoding/text-encoding.ts"
export { canonicalJson, own } from "./shared/text/json.ts"
export { isStorable, mendText, mendValue } from "./shared/text/text.ts"
export { isPaperDate } from "./shared/time/day.ts"

// JSON of strangers, with bounds.
export { JsonLimitError, type JsonLimits, jsonLimits, readJson, tryReadJson } from "./shared/text/read-json.ts"

// Limits that both sides check.
export { MAX_PASSAGES } from "./engine/library.ts"
export { MAX_SQL } from "./protocol/databases/connections.ts"
