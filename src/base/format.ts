const MIB = 2 ** 20;

/** Bytes as people read them, one decimal from 1 MiB on: `93.8 MiB`, `1.0 GiB`. */
export function formatBytes(bytes: number): string {
  if (bytes < MIB) return `${Math.ceil(bytes / 1024)} KiB`;
  if (bytes < 1024 * MIB) return `${(bytes / MIB).toFixed(1)} MiB`;
  return `${(bytes / MIB / 1024).toFixed(1)} GiB`;
}

/** Always in MiB, rounded up: for comparisons where both sides should have one unit. */
export function formatMib(bytes: number): string {
  return `${Math.ceil(bytes / MIB)} MiB`;
}

/** One line without control characters: texts of files must not reach a terminal as they are. */
export function printable(text: string): string {
  return text
    .replace(/\s*\n\s*/g, " ")
    .replace(/\p{Cc}/gu, (char) => `\\x${char.charCodeAt(0).toString(16).padStart(2, "0")}`);
}
