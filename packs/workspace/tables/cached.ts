/**
 * Caches what is created from a specification, such as the schema of a tool's arguments, which takes a millisecond, and
 * its JSON Schema, which takes another. There are fifty, and a process that opens several servers would create all of
 * them each time.
 */
export function cached<Of extends object, Made>(make: (of: Of) => Made): (of: Of) => Made {
  const made = new WeakMap<Of, Made>()
  return (of) => {
    const known = made.get(of)
    if (known !== undefined) return known
    const fresh = make(of)
    made.set(of, fresh)
    return fresh
  }
}
