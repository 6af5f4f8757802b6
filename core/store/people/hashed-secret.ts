import { createHash, randomBytes } from "node:crypto"
import { slotDigitsOf, type UserId } from "../../protocol/ids.ts"

/**
 * 256 random bits and the slot of the person, which identifies the database to ask. The secret is shown once and only
 * its hash is stored.
 */
export const newSecret = (person: UserId, prefix = ""): string =>
  `${prefix}${randomBytes(32).toString("base64url")}${slotDigitsOf(person)}`

/**
 * Stored in place of a secret, so that a copy of the database grants no access. Without salt, because a secret has too
 * many bits (256) to guess.
 */
export const secretHash = (secret: string): string => createHash("sha256").update(secret).digest("hex")
