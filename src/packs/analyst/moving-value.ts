/**
 * Whether a statement names something whose value is another one each time: the time, chance, a counter. What such a
 * statement makes of its rows cannot be compared with what it would have made of them a minute ago. A word too many here
 * only means that less is compared.
 */
export const namesMovingValue = (sql: string): boolean => MOVING.test(sql)

const MOVING =
  /\b(?:now|random\w*|clock_timestamp|statement_timestamp|transaction_timestamp|timeofday|age|\w*uuid\w*|nextval|current_\w+|local\w+|last_insert_rowid|changes|total_changes|date|time|datetime|strftime|julianday|unixepoch|today|tomorrow|yesterday)\b/i
