// QR code of an address, as the path of an SVG image.

import { encode } from 'uqr';

export interface QrCode {
  /** Width and height in modules, with the quiet zone around the code. */
  size: number;
  /** The dark modules. */
  path: string;
}

/** The quiet zone that readers need, in modules. */
const QUIET_ZONE = 4;

export function qrCode(text: string): QrCode {
  const { data, size } = encode(text, { ecc: 'M', border: QUIET_ZONE });
  const rows = data.flatMap((row, y) => row.flatMap((dark, x) => (dark ? [`M${x} ${y}h1v1h-1z`] : [])));
  return { size, path: rows.join('') };
}
