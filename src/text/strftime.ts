/** Python's `strftime` in UTC and English, for the directives that chat templates use. */
export function strftime(format: string, date: Date): string {
  const part = (options: Intl.DateTimeFormatOptions): string =>
    new Intl.DateTimeFormat("en-US", { timeZone: "UTC", ...options }).format(date);
  const two = (value: number): string => String(value).padStart(2, "0");
  const directives: Readonly<Record<string, () => string>> = {
    Y: () => String(date.getUTCFullYear()),
    m: () => two(date.getUTCMonth() + 1),
    d: () => two(date.getUTCDate()),
    B: () => part({ month: "long" }),
    b: () => part({ month: "short" }),
    A: () => part({ weekday: "long" }),
    a: () => part({ weekday: "short" }),
    H: () => two(date.getUTCHours()),
    M: () => two(date.getUTCMinutes()),
    S: () => two(date.getUTCSeconds()),
    "%": () => "%",
  };
  return format.replace(/%(.)/g, (whole, code: string) => directives[code]?.() ?? whole);
}
