/** A day, a month or a year. By itself, so that whoever only reads dates loads no schema. */
export const PAPER_DATE = /^\d{4}(-(0[1-9]|1[0-2])(-(0[1-9]|[12]\d|3[01]))?)?$/

export const isPaperDate = (text: string): boolean => PAPER_DATE.test(text)
