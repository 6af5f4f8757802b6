import { Plus } from "../../icons/signs.ts"
import { Database } from "../../icons/things.ts"
import { whereOf } from "../../connections/where-of.ts"
import { type Choice, Menu, MenuChoices, MenuItem, MenuLine } from "../../parts/menu.tsx"
import { Plain } from "../../parts/plain.tsx"
import { escapeHidden } from "../../parts/hidden-characters.ts"
import { loadConnections, useConnections } from "../../state/connections.ts"
import { useTryAgain } from "../../state/when-back.ts"
import { navigate } from "../../state/router.ts"

/** Agents that work on a database; for the others there is nothing to choose. */
export const asksDatabases = (agent: string | null | undefined): boolean => agent === "analyst"

interface ConnectionPickerProps {
  /** The chosen one; null where none is. */
  readonly value: string | null
  readonly onChoose: (id: string | null) => void
  readonly side?: "top" | "bottom"
}

const NONE = ""

/** Which database a conversation is about. */
export function ConnectionPicker({ value, onChoose, side = "bottom" }: ConnectionPickerProps) {
  const { items = [], problem } = useConnections()
  useTryAgain(problem, loadConnections)
  const chosen = items.find(({ id }) => id === value)
  const name = chosen?.name ?? (value === null ? "No database" : "A database that is gone")
  const choices: Choice<string>[] = [
    ...items.map((connection) => ({
      value: connection.id as string,
      name: <Plain text={connection.name} />,
      says: <Plain text={whereOf(connection)} />,
    })),
    { value: NONE, name: "No database" },
  ]
  return (
    <Menu
      side={side}
      align={side === "top" ? "start" : "end"}
      trigger={
        <button
          type="button"
          aria-label={`Database: ${escapeHidden(name)}`}
          onPointerDown={() => void loadConnections()}
          className={`flex h-8 min-w-0 items-center gap-1.5 rounded-lg px-2 text-[13px] hover:bg-sunken hover:text-ink ${chosen ? "text-soft" : "text-warn"}`}
        >
          <Database className="size-3.5 shrink-0" aria-hidden="true" />
          <span className="max-w-48 truncate">
            <Plain text={name} />
          </span>
        </button>
      }
    >
      <MenuChoices
        label="Database"
        value={chosen?.id ?? NONE}
        choices={choices}
        onChoose={(id) => onChoose(id === NONE ? null : id)}
      />
      <MenuLine />
      <MenuItem icon={<Plus />} onSelect={() => navigate("/settings/connections")}>
        Connect a database
      </MenuItem>
    </Menu>
  )
}
