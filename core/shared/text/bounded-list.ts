import { z } from "zod"

/** After this many invalid items a list is not checked further; at most this many problems are reported for each. */
const BAD_ITEMS = 3
const TOLD_OF_EACH = 2

/**
 * A list of untrusted input. It is counted before its items are checked, up to a few invalid ones. A plain `z.array`
 * reports every invalid item and only then counts, which takes seconds and gigabytes for a body of empty objects.
 */
export function boundedList<Item extends z.ZodType>(item: Item, most: number, { least = 0 } = {}) {
  const judge = (value: unknown, context: z.RefinementCtx): unknown => {
    if (!Array.isArray(value)) return value // the array below reports it
    if (value.length > most) {
      context.addIssue({ code: "custom", message: `there are ${value.length}, and at most ${most} are taken at once` })
      return z.NEVER
    }
    let bad = 0
    for (const [index, one] of value.entries()) {
      const { error } = item.safeParse(one)
      if (!error) continue
      for (const { path, message } of error.issues.slice(0, TOLD_OF_EACH))
        context.addIssue({ code: "custom", message, path: [index, ...path] })
      if (++bad === BAD_ITEMS) break
    }
    return value
  }
  const list = z.array(item).max(most)
  return z.preprocess(judge, least > 0 ? list.min(least) : list)
}

/**
 * An object of untrusted input with any keys. They are counted first, because a plain `z.record` checks and reports
 * each one.
 */
export function boundedRecord<Name extends z.core.$ZodRecordKey, Value extends z.core.SomeType>(
  record: z.ZodRecord<Name, Value>,
  most: number,
) {
  const count = (given: unknown, context: z.RefinementCtx): unknown => {
    if (typeof given !== "object" || given === null) return given // the record below reports it
    const { length } = Object.keys(given)
    if (length <= most) return given
    context.addIssue({ code: "custom", message: `there are ${length} names, and at most ${most} are taken at once` })
    return z.NEVER
  }
  return z.preprocess(count, record)
}
