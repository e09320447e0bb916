#!/usr/bin/python3
"""Writes scans of invented instruments with known words, for ocr-bench: scans.py FOLDER [SCANS_PER_CLASS]

Each class is a folder with 20 scans, and beside each its words in a .txt file. The same versions of the
packages (see main.go) give the same scans. The words on stamps are not part of the known words.
"""
import os
import random
import sys
import zlib

import numpy as np
from PIL import Image, ImageDraw, ImageFilter, ImageFont

FONTS = "/usr/share/fonts/truetype/"
PRINT = ("liberation/LiberationSerif-Regular", "freefont/FreeSerif", "dejavu/DejaVuSerif", "liberation/LiberationSans-Regular")
TYPEWRITER = ("freefont/FreeMono", "freefont/FreeMonoBold", "liberation/LiberationMono-Regular")

TITLES = ("GENERAL WARRANTY DEED", "OPEN END MORTGAGE", "SATISFACTION OF MORTGAGE", "QUITCLAIM DEED")
KINDS = ("THIS DEED", "THIS MORTGAGE", "THIS RELEASE")
FIRST = "Margaret Harold Lucille Walter Dorothy Raymond Evelyn Clarence Beatrice Theodore Agnes Leonard".split()
LAST = "Whitcomb Brindle Kowalski Abernathy Delgado Fenwick Okafor Lindqvist Harmon Pruitt Vandermeer Salazar".split()
PLACES = ("Wexcombe", "Ashford", "Millbrook", "Darnell", "Pine Hollow", "Stanton", "Marlow")
MONUMENTS = ("an iron pin found", "a stone monument", "the centerline of the road", "a twelve inch oak", "the right of way line")
MONTHS = "January March April June August October December".split()
CLAUSES = """\
{k} made this {d} day of {m}, {y}, between {a} and {b}, husband and wife, of {p} County, party of the first part.
The said party, for and in consideration of the sum of ${n},{h}.00, lawful money, does hereby grant, bargain, sell and convey.
To {c}, an unmarried person, the heirs and assigns forever, all that certain tract or parcel of land situate in {p} Township.
BEGINNING at {x}; thence North {d} degrees {h} minutes East {n}.{d} feet to {z}; thence South {d} degrees West {h} feet.
Thence along the lands now or formerly of {b} a distance of {h}.5 feet to the place of beginning, containing {d}.{n} acres.
BEING the same premises which {a} by deed dated {m} {d}, {y}, and recorded in Deed Book {h}, Page {n}, conveyed to {c}.
Parcel ID {d}-{n}-{h}. Subject to easements, restrictions and rights of way of record in the office of the Recorder.
Know all men that the mortgage recorded in Book {n}, Page {h}, is hereby released, satisfied and discharged in full.
Lot {d} of the {p} Subdivision, as shown on the plat recorded in Plat Book {n}, Page {d}, Instrument No. {y}0{h}{n}.
IN WITNESS WHEREOF the grantor has hereunto set hand and seal the day and year first above written.
Before me, the undersigned, a Notary Public, personally appeared {a}, who acknowledged the foregoing instrument.
""".splitlines()


def font(name, size):
    return ImageFont.truetype(FONTS + name + ".ttf", size, layout_engine=ImageFont.Layout.BASIC)


def instrument(rnd):
    """Returns a title and four to eight clauses."""
    def name():
        return f"{rnd.choice(FIRST)} {rnd.choice('ABCDEGHJLMRT')}. {rnd.choice(LAST)}"

    clauses = []
    for clause in rnd.sample(CLAUSES, rnd.randint(4, 8)):
        clauses.append(clause.format(
            k=rnd.choice(KINDS), a=name(), b=name(), c=name(), p=rnd.choice(PLACES), d=rnd.randint(2, 28), n=rnd.randint(20, 980),
            h=rnd.randint(100, 899), y=rnd.randint(1921, 2019), x=rnd.choice(MONUMENTS), z=rnd.choice(MONUMENTS), m=rnd.choice(MONTHS)))
    return rnd.choice(TITLES), clauses


def page(rnd, dpi, fonts=PRINT, columns=1):
    """Returns a gray page of 7.7 by 9.5 inches in 10 to 12 points, and its words in the order of reading."""
    title, clauses = instrument(rnd)
    size = rnd.choice((10, 11, 12)) * dpi // 72
    name = rnd.choice(fonts)
    letters = font(name, size)
    img = Image.new("L", (int(7.7 * dpi), int(9.5 * dpi)), 255)
    draw, margin, gap = ImageDraw.Draw(img), int(0.6 * dpi), int(0.4 * dpi)
    width = (img.width - 2 * margin - (columns - 1) * gap) // columns
    draw.text((img.width // 2, margin), title, 0, font(name, size * 5 // 4), anchor="ma")
    words, lines = title.split(), []
    for clause in clauses:
        line = ""
        for word in clause.split():
            words.append(word)
            if line and draw.textlength(line + " " + word, letters) > width:
                lines.append(line)
                line = word
            else:
                line = (line + " " + word).strip()
        lines += [line, ""]
    rows = -(-len(lines) // columns)
    for i, line in enumerate(lines):
        column, row = divmod(i, rows)
        draw.text((margin + column * (width + gap), margin + 5 * size // 2 + row * size * 27 // 20), line, 0, letters)
    return img, words


# What a scanner, a copier, or a hundred years do to a page.

def generator(rnd):
    return np.random.default_rng(rnd.randrange(1 << 30))


def pixels(img):
    return np.array(img, np.float32)


def image(values):
    return Image.fromarray(np.clip(values, 0, 255).astype(np.uint8))


def noise(img, rnd, sigma):
    return image(pixels(img) + generator(rnd).normal(0, sigma, (img.height, img.width)))


def blur(img, radius):
    return img.filter(ImageFilter.GaussianBlur(radius))


def bitonal(img, rnd, darkest=110, lightest=160):
    level = rnd.randint(darkest, lightest)
    return img.point(lambda v: 255 if v > level else 0).convert("1")


def skew(img, rnd, most):
    return img.rotate(rnd.choice((-1, 1)) * rnd.uniform(0.5, most), Image.BICUBIC, fillcolor=255)


def specks(img, rnd, share, side=1):
    """Adds black and half as many white specks of side x side pixels, which cover this share of the page."""
    values = pixels(img)
    at = generator(rnd).random((-(-img.height // side), -(-img.width // side)))
    at = at.repeat(side, 0).repeat(side, 1)[:img.height, :img.width]
    values[at < share] = 0
    values[at > 1 - share / 2] = 255
    return image(values)


def stain(img, rnd):
    """Darkens the page toward one side, as in a book or a photograph, and adds one to three stains."""
    w, h = img.size
    y, x = np.mgrid[0:h, 0:w].astype(np.float32)
    light = 1 - rnd.uniform(.3, .6) * (x / w if rnd.random() < .5 else 1 - y / h)
    for _ in range(rnd.randint(1, 3)):
        cx, cy, size = rnd.uniform(0, w), rnd.uniform(0, h), rnd.uniform(.1, .25) * w
        light *= 1 - rnd.uniform(.2, .45) * np.exp(-(((x - cx) ** 2 + (y - cy) ** 2) / size ** 2) ** 3)
    return noise(image(pixels(img) * light), rnd, 4)


def stamp(img, rnd, dpi):
    """Adds a recording stamp in gray, rotated by up to 12 degrees, anywhere on the text."""
    layer = Image.new("L", (3 * dpi, int(1.3 * dpi)), 255)
    draw, letters = ImageDraw.Draw(layer), font("liberation/LiberationSans-Bold", dpi // 5)
    draw.rectangle((4, 4, layer.width - 5, layer.height - 5), outline=0, width=max(2, dpi // 50))
    draw.text((layer.width // 2, dpi // 5), "RECORDED", 0, letters, anchor="ma")
    draw.text((layer.width // 2, dpi * 3 // 5), f"APR {rnd.randint(10, 28)} {rnd.randint(1950, 1999)}", 0, letters, anchor="ma")
    layer = layer.rotate(rnd.uniform(-12, 12), Image.BICUBIC, expand=True, fillcolor=255)
    ink = rnd.randint(90, 150)
    layer = layer.point(lambda v: 255 if v > 200 else max(v, ink))
    values, x, y = pixels(img), rnd.randint(dpi, 4 * dpi), rnd.randint(dpi, 4 * dpi)
    part = values[y:y + layer.height, x:x + layer.width]
    np.minimum(part, pixels(layer)[:part.shape[0], :part.shape[1]], out=part)
    return image(values)


def worn(img, rnd, dpi):
    """Makes the ink of a typewriter's ribbon uneven."""
    grid = generator(rnd).uniform(0, 150, (img.height * 9 // dpi, img.width * 12 // dpi))
    ribbon = image(grid).resize(img.size, Image.BICUBIC)
    return noise(blur(image(np.maximum(pixels(img), pixels(ribbon))), dpi / 300), rnd, 8)


# The classes. Each returns scan i: image, words, dots per inch, extension, and quality as JPEG.

def clean(rnd, i):
    """200, 300, and 400 dpi, without defects."""
    dpi = (200, 300, 400)[i % 3]
    return *page(rnd, dpi), dpi, "png"


def columns(rnd, i):
    """Two columns, 300 dpi."""
    return *page(rnd, 300, columns=2), 300, "tif"


def fax(rnd, i):
    """Black and white, 204 x 196 or 204 x 98 dpi, 0.15% specks."""
    img, words = page(rnd, 204)
    vertical = (196, 98)[i % 2]
    img = img.resize((img.width, img.height * vertical // 204), Image.BOX)
    return specks(bitonal(blur(img, .5), rnd).convert("L"), rnd, .001).convert("1"), words, (204, vertical), "tif"


def jpeg(rnd, i):
    """Blurred JPEG of quality 8 to 22, 200 and 300 dpi."""
    dpi = (200, 300)[i % 2]
    img, words = page(rnd, dpi)
    return blur(img, .6), words, dpi, "jpg", rnd.randint(8, 22)


def dpi150(rnd, i):
    """150 dpi, slight noise."""
    img, words = page(rnd, 300)
    return noise(img.resize((img.width // 2, img.height // 2), Image.LANCZOS), rnd, 6), words, 150, "png"


def turned(rnd, i):
    """Rotated by 90, 180, or 270 degrees, 300 dpi, slight noise."""
    img, words = page(rnd, 300)
    return noise(img, rnd, 5).rotate((90, 180, 270)[i % 3], expand=True), words, 300, "png"


def shadows(rnd, i):
    """Shaded toward one side, one to three stains, 300 dpi, JPEG of quality 75."""
    img, words = page(rnd, 300)
    return stain(img, rnd), words, 300, "jpg", 75


def skewed(rnd, i):
    """Rotated by 0.5 to 5 degrees, 300 dpi, slight noise."""
    img, words = page(rnd, 300)
    return noise(skew(img, rnd, 5), rnd, 5), words, 300, "png"


def stamps(rnd, i):
    """A recording stamp over the text, 300 dpi."""
    img, words = page(rnd, 300)
    return stamp(img, rnd, 300), words, 300, "png"


def typewriter(rnd, i):
    """Typewriter with an uneven ribbon, 300 dpi, gray or black and white."""
    img, words = page(rnd, 300, TYPEWRITER)
    img = worn(img, rnd, 300)
    return (bitonal(img, rnd, 150, 180) if i % 2 else img), words, 300, "tif"


def speckled(rnd, i):
    """0.3% to 4.5% specks of one or two pixels, 300 dpi, black and white or gray with noise."""
    img, words = page(rnd, 300)
    img = specks(blur(img, .7), rnd, rnd.choice((.002, .01, .03)), 1 + i // 2 % 2)
    return (bitonal(img, rnd) if i % 2 else noise(img, rnd, 15)), words, 300, "png"


def mixed(rnd, i):
    """Skewed by up to 3 degrees and stained; half typewritten, a third stamped, a quarter rotated by 90 degrees; 200 dpi JPEG."""
    img, words = page(rnd, 200, TYPEWRITER if i % 2 else PRINT)
    if i % 2:
        img = worn(img, rnd, 200)
    if i % 3 == 0:
        img = stamp(img, rnd, 200)
    img = stain(skew(img, rnd, 3), rnd)
    if i % 4 == 3:
        img = img.rotate(90, expand=True)
    return img, words, 200, "jpg", rnd.randint(25, 50)


def save(path, img, words, dpi, extension, quality=None):
    options = {"dpi": dpi if isinstance(dpi, tuple) else (dpi, dpi)}
    if quality:
        options["quality"] = quality
    if extension == "tif":
        options["compression"] = "group4" if img.mode == "1" else "tiff_lzw"
    img.save(f"{path}.{extension}", **options)
    with open(path + ".txt", "w") as f:
        f.write(" ".join(words) + "\n")


def main():
    folder, count = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 20
    for make in (clean, columns, fax, jpeg, dpi150, turned, shadows, skewed, stamps, typewriter, speckled, mixed):
        os.makedirs(f"{folder}/{make.__name__}", exist_ok=True)
        for i in range(count):
            rnd = random.Random(zlib.crc32(f"{make.__name__}{i}".encode()))
            save(f"{folder}/{make.__name__}/{i:02}", *make(rnd, i))


main()
