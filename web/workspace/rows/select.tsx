import { escapeHidden } from "../../parts/hidden-characters.ts"
import { Labelled, Select } from "../../parts/labelled.tsx"

interface RowSelectProps {
  readonly label: string
  readonly value: string | null
  readonly rows: readonly { readonly id: string; readonly name: string }[]
  /** What choosing none is called. */
  readonly none?: string
  readonly onChoose: (id: string | null) => void
}

/** One of some rows by name, or none. */
export function RowSelect({ label, value, rows, none = "None", onChoose }: RowSelectProps) {
  return (
    <Labelled label={label}>
      <Select
        value={value ?? ""}
        choices={[["", none], ...rows.map(({ id, name }) => [id, escapeHidden(name)] as const)]}
        onChoose={(id) => onChoose(id || null)}
      />
    </Labelled>
  )
}
