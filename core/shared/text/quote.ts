/** The double quotation marks of all scripts that look like ours, and the backslash that escapes them. */
const MARKS = /["\\“”„‟«»″＂]/gu

/** Characters that could be read as punctuation of the surrounding sentence. */
const PUNCTUATION = /["\\“”„‟«»″＂(),:;→]/u

/**
 * Text that someone else wrote, for use inside a sentence of Pawl's. Quotation marks in the text are escaped, so the text
 * cannot close the quotation and continue as Pawl's own words.
 */
export const quote = (text: string): string => `"${text.replaceAll(MARKS, (mark) => `\\${mark}`)}"`

/** The same for a value in a list of values, which needs quotation marks only if it contains punctuation. */
export const quoteIfNeeded = (text: string): string => (PUNCTUATION.test(text) ? quote(text) : text)
