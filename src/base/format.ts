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
