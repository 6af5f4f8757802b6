import { createHash, randomBytes } from "node:crypto"
import { slotDigitsOf, type UserId } from "../../protocol/ids.ts"

/**
 * 256 bits of chance that somebody shows to come in, and behind them the slot of their person: who has nothing else to
 * go by knows which database to ask. It is given away once and stored as its hash only.
 */
export const newSecret = (person: UserId, prefix = ""): string =>
  `${prefix}${randomBytes(32).toString("base64url")}${slotDigitsOf(person)}`

/** What is stored of a secret: a copy of the database opens nothing. Without salt, as nobody guesses 256 bits. */
export const secretHash = (secret: string): string => createHash("sha256").update(secret).digest("hex")
