import { Check, Ellipsis } from "./icons.tsx"
import { DropdownMenu, Popover } from "radix-ui"
import { createContext, type ReactNode, useContext, useState } from "react"
import { IconButton, Link } from "./button.tsx"

/** Closes the menu that an item is in. */
const CloseMenu = createContext(() => {})

interface MenuProps {
  readonly trigger: ReactNode
  readonly children: ReactNode
  readonly align?: "start" | "end"
  readonly side?: "top" | "bottom"
}

/** A menu on a button. Not modal, because a modal one adds an inline style that the page's policy forbids. */
export function Menu({ trigger, children, align = "start", side = "bottom" }: MenuProps) {
  const [isOpen, setOpen] = useState(false)
  return (
    <DropdownMenu.Root modal={false} open={isOpen} onOpenChange={setOpen}>
      <DropdownMenu.Trigger asChild>{trigger}</DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content
          align={align}
          side={side}
          sideOffset={6}
          collisionPadding={8}
          className="appear z-50 max-h-[min(24rem,70vh)] max-w-80 min-w-48 overflow-y-auto rounded-xl border border-line bg-surface p-1 text-sm shadow-lg"
        >
          <CloseMenu value={() => setOpen(false)}>{children}</CloseMenu>
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  )
}

/** A three-dot menu with more actions. */
export const MoreMenu = ({ label, children }: { readonly label: string; readonly children: ReactNode }) => (
  <Menu
    align="end"
    trigger={
      <IconButton label={label}>
        <Ellipsis className="size-5" />
      </IconButton>
    }
  >
    {children}
  </Menu>
)

const ITEM =
  "flex w-full items-start gap-2.5 rounded-lg px-2.5 py-1.5 outline-none data-disabled:opacity-55 data-highlighted:bg-sunken"

interface MenuItemProps {
  readonly icon?: ReactNode
  readonly onSelect: () => void
  readonly disabled?: boolean
  readonly danger?: boolean
  readonly children: ReactNode
}

export function MenuItem({ icon, onSelect, disabled = false, danger = false, children }: MenuItemProps) {
  return (
    <DropdownMenu.Item disabled={disabled} onSelect={onSelect} className={`${ITEM} ${danger ? "text-danger" : ""}`}>
      {icon && <span className="mt-[3px] [&>svg]:size-4">{icon}</span>}
      <span className="min-w-0 flex-1">{children}</span>
    </DropdownMenu.Item>
  )
}

/** An item that leads to another page of ours, and opens in a new tab like any link. */
export function MenuLink({ icon, to, children }: Pick<MenuItemProps, "icon" | "children"> & { readonly to: string }) {
  const close = useContext(CloseMenu)
  return (
    <DropdownMenu.Item asChild className={ITEM}>
      {/* A link prevents the default, and the menu would read that as handled and stay open. */}
      <Link to={to} onClick={close}>
        {icon && <span className="mt-[3px] [&>svg]:size-4">{icon}</span>}
        <span className="min-w-0 flex-1">{children}</span>
      </Link>
    </DropdownMenu.Item>
  )
}

export interface Choice<Value extends string> {
  readonly value: Value
  readonly name: ReactNode
  readonly says?: ReactNode
  readonly disabled?: boolean
}

interface MenuChoicesProps<Value extends string> {
  readonly label: string
  readonly value: Value | undefined
  readonly choices: readonly Choice<Value>[]
  readonly onChoose: (value: Value) => void
}

/** Radio items, with a tick on the chosen one. */
export function MenuChoices<Value extends string>({ label, value, choices, onChoose }: MenuChoicesProps<Value>) {
  return (
    <DropdownMenu.RadioGroup
      {...(value === undefined ? {} : { value })}
      onValueChange={(chosen) => onChoose(chosen as Value)}
      aria-label={label}
    >
      {choices.map((choice) => (
        <DropdownMenu.RadioItem
          key={choice.value}
          value={choice.value}
          disabled={choice.disabled ?? false}
          className={ITEM}
        >
          <span className="mt-[3px] size-4">
            <DropdownMenu.ItemIndicator>
              <Check className="size-4 text-accent" />
            </DropdownMenu.ItemIndicator>
          </span>
          <span className="min-w-0 flex-1">
            {choice.name}
            {choice.says && <span className="block text-[13px] leading-snug text-soft">{choice.says}</span>}
          </span>
        </DropdownMenu.RadioItem>
      ))}
    </DropdownMenu.RadioGroup>
  )
}

export const MenuLine = () => <DropdownMenu.Separator className="my-1 h-px bg-line" />

interface PopupProps {
  readonly label: string
  readonly trigger: ReactNode
  readonly side: "top" | "bottom"
  readonly isOpen: boolean
  readonly onOpenChange: (isOpen: boolean) => void
  readonly className: string
  readonly children: ReactNode
}

/** A panel on a button, for fields and text. */
export function Popup({ label, trigger, side, isOpen, onOpenChange, className, children }: PopupProps) {
  return (
    <Popover.Root open={isOpen} onOpenChange={onOpenChange}>
      <Popover.Trigger asChild>{trigger}</Popover.Trigger>
      <Popover.Portal>
        <Popover.Content
          aria-label={label}
          align="start"
          side={side}
          sideOffset={6}
          collisionPadding={8}
          className={`appear z-50 rounded-xl border border-line bg-surface text-sm shadow-lg ${className}`}
        >
          {children}
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  )
}
