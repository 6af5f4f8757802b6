/**
 * What a record has under a name that came from outside. A plain `record[name]` or `name in record` also finds what every
 * object has, such as `constructor`: a function where a text was expected.
 */
export function own<Value>(record: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined
}
