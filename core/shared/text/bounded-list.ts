import { z } from "zod"

/** After this many bad items a list is not checked further; at most this many problems are told of each. */
const BAD_ITEMS = 3
const TOLD_OF_EACH = 2

/**
 * A list from outside. It is counted first, then its items are judged one by one until a few are bad: a plain `z.array`
 * complains about every item and only then counts, which for a body of empty objects takes seconds and gigabytes.
 */
export function boundedList<Item extends z.ZodType>(item: Item, most: number, { least = 0 } = {}) {
  const judge = (value: unknown, context: z.RefinementCtx): unknown => {
    if (!Array.isArray(value)) return value // the array below says so
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

/** An object of any names from outside. They are counted first: a plain `z.record` checks each and complains about each. */
export function boundedRecord<Name extends z.core.$ZodRecordKey, Value extends z.core.SomeType>(
  record: z.ZodRecord<Name, Value>,
  most: number,
) {
  const count = (given: unknown, context: z.RefinementCtx): unknown => {
    if (typeof given !== "object" || given === null) return given // the record below says so
    const { length } = Object.keys(given)
    if (length <= most) return given
    context.addIssue({ code: "custom", message: `there are ${length} names, and at most ${most} are taken at once` })
    return z.NEVER
  }
  return z.preprocess(count, record)
}
