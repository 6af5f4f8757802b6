import { Plain } from "../parts/plain.tsx"

interface ConnectionWarningsProps {
  readonly found: { readonly warnings: readonly string[] } | undefined
}

/** What is dangerous about a database that answers, where something is. */
export function ConnectionWarnings({ found }: ConnectionWarningsProps) {
  return found?.warnings.map((warning) => (
    <span key={warning} className="block text-[13px] text-warn">
      Warning: <Plain text={warning} />
    </span>
  ))
}
