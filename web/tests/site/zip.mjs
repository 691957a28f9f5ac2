// Minimal zip archives for tests: writes without compression, reads both.

import { crc32, inflateRawSync } from 'node:zlib';

/** @param {{ [path: string]: string }} files */
export function zip(files) {
  const [bodies, heads] = [/** @type {Buffer[]} */ ([]), /** @type {Buffer[]} */ ([])];
  let at = 0;
  for (const [path, content] of Object.entries(files)) {
    const [name, bytes] = [Buffer.from(path), Buffer.from(content)];
    // Checksum, compressed and real size, name length, no extra field.
    const sizes = Buffer.alloc(16);
    sizes.writeUInt32LE(crc32(bytes), 0);
    sizes.writeUInt32LE(bytes.length, 4);
    sizes.writeUInt32LE(bytes.length, 8);
    sizes.writeUInt16LE(name.length, 12);
    const offset = Buffer.alloc(14);
    offset.writeUInt32LE(at, 10);
    const body = Buffer.concat([Buffer.from('504b03040a00000000000000 0021'.replaceAll(' ', ''), 'hex'), sizes, name, bytes]);
    heads.push(Buffer.concat([Buffer.from('504b010214030a000000000000000021', 'hex'), sizes, offset, name]));
    bodies.push(body);
    at += body.length;
  }
  const central = Buffer.concat(heads);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(heads.length, 8);
  end.writeUInt16LE(heads.length, 10);
  end.writeUInt32LE(central.length, 12);
  end.writeUInt32LE(at, 16);
  return Buffer.concat([...bodies, central, end]);
}

/**
 * Files of an archive.
 * @param {Buffer} bytes
 * @returns {{ [path: string]: Buffer }}
 */
export function unzip(bytes) {
  /** @type {{ [path: string]: Buffer }} */
  const files = {};
  const end = bytes.lastIndexOf(Buffer.from('504b0506', 'hex'));
  let at = bytes.readUInt32LE(end + 16);
  for (let left = bytes.readUInt16LE(end + 10); left > 0; left -= 1) {
    const [way, packed] = [bytes.readUInt16LE(at + 10), bytes.readUInt32LE(at + 20)];
    const [name, extra, note] = [bytes.readUInt16LE(at + 28), bytes.readUInt16LE(at + 30), bytes.readUInt16LE(at + 32)];
    const body = bytes.readUInt32LE(at + 42);
    const from = body + 30 + bytes.readUInt16LE(body + 26) + bytes.readUInt16LE(body + 28);
    const content = bytes.subarray(from, from + packed);
    files[bytes.toString('utf8', at + 46, at + 46 + name)] = way === 0 ? content : inflateRawSync(content);
    at += 46 + name + extra + note;
  }
  return files;
}
