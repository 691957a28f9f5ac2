// Short sounds, made by the browser's synthesiser. There are no sound files.

export type SoundKind = 'move' | 'capture' | 'fault' | 'end';

interface Note {
  wave: OscillatorType;
  /** Frequency at the start and at the end, in hertz. */
  from: number;
  to: number;
  /** Start and duration in seconds. */
  at: number;
  lasts: number;
  volume: number;
}

const SOUNDS: { [kind in SoundKind]: Note[] } = {
  move: [{ wave: 'triangle', from: 330, to: 250, at: 0, lasts: 0.05, volume: 0.12 }],
  capture: [
    { wave: 'triangle', from: 440, to: 660, at: 0, lasts: 0.09, volume: 0.2 },
    { wave: 'triangle', from: 660, to: 880, at: 0.07, lasts: 0.12, volume: 0.16 },
  ],
  fault: [{ wave: 'sawtooth', from: 170, to: 80, at: 0, lasts: 0.28, volume: 0.14 }],
  end: [523, 659, 784, 1047].map((pitch, i): Note => ({ wave: 'triangle', from: pitch, to: pitch, at: 0.11 * i, lasts: 0.3, volume: 0.18 })),
};

/** Minimum time between two sounds of moves in seconds. A fast film would hum otherwise. */
const MIN_MOVE_DELAY = 0.07;

/** Plays sounds, once the reader has pressed something on the page: browsers allow it only then. */
export class Speaker {
  private context: AudioContext | undefined;
  private movedAt = -Infinity;

  play(kind: SoundKind): void {
    if (navigator.userActivation?.hasBeenActive === false) return;
    try {
      this.context ??= new AudioContext();
    } catch {
      return;
    }
    const { context } = this;
    if (context.state === 'suspended') void context.resume();
    if (kind === 'move') {
      if (context.currentTime - this.movedAt < MIN_MOVE_DELAY) return;
      this.movedAt = context.currentTime;
    }
    for (const note of SOUNDS[kind]) this.playNote(context, note);
  }

  private playNote(context: AudioContext, note: Note): void {
    const start = context.currentTime + note.at;
    const end = start + note.lasts;
    const oscillator = new OscillatorNode(context, { type: note.wave, frequency: note.from });
    oscillator.frequency.exponentialRampToValueAtTime(note.to, end);
    const gain = new GainNode(context, { gain: 0 });
    gain.gain.linearRampToValueAtTime(0, start);
    gain.gain.linearRampToValueAtTime(note.volume, start + 0.008);
    gain.gain.exponentialRampToValueAtTime(0.001, end);
    oscillator.connect(gain).connect(context.destination);
    oscillator.start(start);
    oscillator.stop(end);
  }

  close(): void {
    void this.context?.close();
    this.context = undefined;
  }
}
