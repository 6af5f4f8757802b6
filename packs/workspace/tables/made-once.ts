/**
 * What is made of a specification, made once however often it is asked for. Of a table that is the schema of a tool's
 * arguments: a millisecond to make, and another for what the model is told of it, which is remembered by the schema. There
 * are fifty, and whoever opens one server after another in a process would wait for all of them each time.
 */
export function madeOnce<Of extends object, Made>(make: (of: Of) => Made): (of: Of) => Made {
  const made = new WeakMap<Of, Made>()
  return (of) => {
    const known = made.get(of)
    if (known !== undefined) return known
    const fresh = make(of)
    made.set(of, fresh)
    return fresh
  }
}
