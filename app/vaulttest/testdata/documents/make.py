#!/usr/bin/env python3
"""Makes the invented documents in this folder, which the tests read.

usage: make.py OUTDIR      (writes OUTDIR/title/* and OUTDIR/refuse/*; MANIFEST.tsv is typed)
Needs Debian's python3-pil, python3-reportlab, img2pdf, python3-pikepdf, poppler-utils, libtiff-tools, qpdf,
tesseract-ocr, fonts-liberation, and libreoffice-writer-nogui for the one .doc. Seeded: the same tools give the
same pages, but not all the same bytes (encryption keys, noise, dates); then sha256 in MANIFEST.tsv changes too.
Files that gzip makes much smaller are kept packed. Every name, address, and number is invented.
"""
import gzip
import io
import math
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import zipfile
import zlib

import img2pdf
import pikepdf
from PIL import Image, ImageChops, ImageDraw, ImageFilter, ImageFont
from reportlab import rl_config
from reportlab.lib.enums import TA_CENTER, TA_JUSTIFY
from reportlab.lib.pagesizes import letter
from reportlab.lib.styles import ParagraphStyle
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen import canvas
from reportlab.platypus import PageBreak, Paragraph, SimpleDocTemplate, Spacer, Table, TableStyle

rl_config.invariant = 1
OUT = sys.argv[1] if len(sys.argv) > 1 else "."
TMP = tempfile.mkdtemp()
RND = random.Random(1867)
FONTS = "/usr/share/fonts/truetype/liberation/"
for n, f in (("Serif", "LiberationSerif-Regular"), ("SerifB", "LiberationSerif-Bold"), ("Mono", "LiberationMono-Regular"), ("Sans", "LiberationSans-Regular"), ("SansB", "LiberationSans-Bold")):
    pdfmetrics.registerFont(TTFont(n, FONTS + f + ".ttf"))

GRANTOR = "HARLAN T. QUILLFEATHER and ODESSA M. QUILLFEATHER, husband and wife"
GRANTEE = "BRINDLEWOOD ORCHARD HOLDINGS, LLC, a Pennsylvania limited liability company"
COUNTY = "Wexcombe County"
BOOK, PAGE, INSTR = "2417", "0883", "201904170093382"
TAXMAP = "47-0312-B-119.04"


def title(p):
    return os.path.join(OUT, "title", p)


def refuse(p):
    return os.path.join(OUT, "refuse", p)


def tmp(p):
    return os.path.join(TMP, p)


def sh(*c):
    subprocess.run(c, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def write(p, b):
    with open(p, "wb") as f:
        f.write(b)


# ---- the parcel: a closed traverse in feet -------------------------------------------------------------------
CORNERS = [(0.0, 0.0), (412.6, 96.3), (655.1, -58.7), (801.9, -402.4), (366.2, -611.8), (-64.4, -377.5)]
MONS = ["an iron pin found at the southerly line of Candlewick Hollow Road (T-418)", "a concrete monument", "a 24-inch white oak", "an iron pin set with cap stamped PLS 0000-E", "a stone pile", "an iron pipe found"]


def bearing(a, b):
    dx, dy = b[0] - a[0], b[1] - a[1]
    ang = math.degrees(math.atan2(abs(dx), abs(dy)))
    d, m = int(ang), int((ang - int(ang)) * 60)
    s = int(round((ang - d - m / 60) * 3600)) % 60
    return ("North" if dy >= 0 else "South", d, m, s, "East" if dx >= 0 else "West", math.hypot(dx, dy))


def acres():
    a = 0
    for i, p in enumerate(CORNERS):
        q = CORNERS[(i + 1) % len(CORNERS)]
        a += p[0] * q[1] - q[0] * p[1]
    return abs(a) / 2 / 43560


def metes():
    t = ["ALL THAT CERTAIN tract or parcel of land, with the improvements thereon erected, situate in the Township of Nether Gossamer, " + COUNTY + ", Commonwealth of Pennsylvania, being Tax Map Parcel " + TAXMAP + ", bounded and described as follows, to wit:",
         "BEGINNING at " + MONS[0] + ", a common corner of lands now or formerly of Tobias Underlake;"]
    for i, a in enumerate(CORNERS):
        j = (i + 1) % len(CORNERS)
        b = bearing(a, CORNERS[j])
        t.append("THENCE %s %02d degrees %02d minutes %02d seconds %s, a distance of %.2f feet to %s;" % (*b[:5], b[5], MONS[j] if j else "the point and place of BEGINNING"))
    t.append("CONTAINING %.3f acres, more or less, as shown on a survey by Fennimore & Gale Land Surveyors dated March 11, 2019." % acres())
    return t


# ---- deed ----------------------------------------------------------------------------------------------------
def styles(font="Serif", size=12, lead=17):
    b = ParagraphStyle("b", fontName=font, fontSize=size, leading=lead, alignment=TA_JUSTIFY, spaceAfter=9)
    return b, ParagraphStyle("h", parent=b, alignment=TA_CENTER, fontName="SerifB", fontSize=size + 3, leading=lead + 4), ParagraphStyle("c", parent=b, alignment=TA_CENTER)


def build(path, story, **kw):
    d = SimpleDocTemplate(path, pagesize=letter, leftMargin=80, rightMargin=72, topMargin=72, bottomMargin=72, **kw)
    d.build(story)


def deed_pdf(path):
    b, h, c = styles()
    s = [Spacer(1, 110), Paragraph("GENERAL WARRANTY DEED", h), Spacer(1, 8),
         Paragraph("THIS INDENTURE, made the 15th day of April, in the year Two Thousand Nineteen (2019), BETWEEN " + GRANTOR + ", of 88 Candlewick Hollow Road, Nether Gossamer, Pennsylvania, hereinafter called the Grantors, AND " + GRANTEE + ", with an address of 1200 Tollgate Parade, Suite 4, Merriweather, Pennsylvania, hereinafter called the Grantee.", b),
         Paragraph("WITNESSETH, that in consideration of the sum of THREE HUNDRED EIGHTY-SEVEN THOUSAND FIVE HUNDRED AND 00/100 DOLLARS ($387,500.00), in hand paid, the receipt whereof is hereby acknowledged, the said Grantors do hereby grant and convey, sell, transfer and confirm unto the said Grantee, its successors and assigns,", b),
         Paragraph(metes()[0], b), PageBreak()]
    s += [Paragraph(x, b) for x in metes()[1:]] + [PageBreak()]
    s += [Paragraph(x, b) for x in (
        "BEING the same premises which Eudora Pennyfarthing, widow, by deed dated September 3, 1998 and recorded in the Office of the Recorder of Deeds of " + COUNTY + " in Deed Book 1106, Page 0241, granted and conveyed unto Harlan T. Quillfeather and Odessa M. Quillfeather, husband and wife, Grantors herein.",
        "UNDER AND SUBJECT to a right of way thirty (30) feet in width granted to Gossamer Valley Electric Cooperative, recorded in Deed Book 0877, Page 0412, and to the building set-back lines shown on the plan recorded in Plan Book 31, Page 17.",
        "EXCEPTING AND RESERVING thereout and therefrom all the coal, oil, gas and other minerals heretofore severed of record by deed of Ambrose Lanternhouse, dated June 30, 1921, Deed Book 212, Page 77.",
        "TOGETHER with all and singular the ways, waters, water-courses, rights, liberties, privileges, hereditaments and appurtenances whatsoever thereunto belonging, or in any wise appertaining, and the reversions and remainders, rents, issues and profits thereof.",
        "TO HAVE AND TO HOLD the said tract of land hereby granted, with the appurtenances, unto the said Grantee, its successors and assigns, to and for the only proper use and behoof of the said Grantee forever. AND the said Grantors do hereby covenant that they will WARRANT GENERALLY the property hereby conveyed.")]
    s += [PageBreak(), Paragraph("IN WITNESS WHEREOF, the said Grantors have hereunto set their hands and seals the day and year first above written.", b), Spacer(1, 40)]
    for n in ("Harlan T. Quillfeather", "Odessa M. Quillfeather"):
        s += [Paragraph("_______________________________ (SEAL)", b), Paragraph(n, b), Spacer(1, 14)]
    s += [Paragraph("COMMONWEALTH OF PENNSYLVANIA, COUNTY OF WEXCOMBE, SS:", b),
          Paragraph("On this, the 15th day of April, 2019, before me, the undersigned officer, a Notary Public, personally appeared Harlan T. Quillfeather and Odessa M. Quillfeather, known to me to be the persons whose names are subscribed to the within instrument, and acknowledged that they executed the same for the purposes therein contained.", b),
          Spacer(1, 16), Paragraph("Prudence A. Wickersham, Notary Public. My commission expires January 4, 2022.", b),
          Paragraph("CERTIFICATE OF RESIDENCE: I do hereby certify that the precise residence of the within named Grantee is 1200 Tollgate Parade, Suite 4, Merriweather, Pennsylvania.", b)]
    build(path, s, title="General Warranty Deed", author="Quillfeather to Brindlewood")


def raster(pdf, dpi, mode="gray"):
    d = tempfile.mkdtemp(dir=TMP)
    sh("pdftoppm", "-r", str(dpi), *(["-gray"] if mode == "gray" else []), pdf, d + "/p")
    return [Image.open(os.path.join(d, f)).convert("L" if mode == "gray" else "RGB") for f in sorted(os.listdir(d))]


def font(name, px):
    return ImageFont.truetype(FONTS + name + ".ttf", px)


def stamp(img, lines, xy, deg, px, box=True):
    f = font("LiberationSans-Bold", px)
    w = max(f.getbbox(x)[2] for x in lines) + 2 * px
    h = int(len(lines) * px * 1.35) + px
    s = Image.new("L", (w, h), 0)
    d = ImageDraw.Draw(s)
    if box:
        d.rectangle((3, 3, w - 4, h - 4), outline=255, width=max(2, px // 9))
    for i, t in enumerate(lines):
        d.text((px, px // 2 + i * px * 1.35), t, font=f, fill=255)
    s = s.rotate(deg, expand=True, resample=Image.BICUBIC)
    img.paste(0, xy, s)


def scan(img, n, deg, dpi):
    """A clean page as a scanner sees it: skew, specks, punch holes, a dark edge, uneven paper."""
    w, h = img.size
    if n == 0:
        stamp(img, ["RECORDED IN OFFICIAL RECORDS", "Deed Book " + BOOK + "  Page " + PAGE, "Instrument No. " + INSTR, "04/17/2019 10:42:17 AM  4 Pages", "Recording Fee $86.75  Transfer Tax $7,750.00", "Recorder of Deeds, " + COUNTY], (w // 2 - dpi // 3, dpi // 3), 1.1, int(dpi * 0.13))
    stamp(img, ["BK %s PG %04d" % (BOOK, int(PAGE) + n)], (w - int(dpi * 2.6), h - int(dpi * 0.75)), 0, int(dpi * 0.12), box=False)
    img = img.rotate(deg, resample=Image.BICUBIC, fillcolor=255)
    d = ImageDraw.Draw(img)
    for _ in range(260):
        x, y, r = RND.randrange(w), RND.randrange(h), RND.choice((0, 0, 1, 1, 1, 2, 3))
        d.ellipse((x, y, x + r, y + r), fill=RND.randrange(0, 120))
    for y in (0.12, 0.5, 0.88):
        d.ellipse((int(dpi * .2), int(h * y), int(dpi * .45), int(h * y) + int(dpi * .25)), fill=20)
    for y in range(0, h, 7):
        d.rectangle((w - RND.randrange(3, 16), y, w, y + 7), fill=0)
    return img


def deed():
    deed_pdf(tmp("deed.pdf"))
    skew = (0.7, -0.5, 0.4, -0.9)
    pages = [scan(p, i, skew[i], 300) for i, p in enumerate(raster(tmp("deed.pdf"), 300))]
    bw = [p.filter(ImageFilter.GaussianBlur(0.6)).point(lambda v: 255 if v > 150 else 0).convert("1") for p in pages]
    bw[0].save(title("warranty-deed-g4-300dpi.tiff"), save_all=True, append_images=bw[1:], compression="group4", dpi=(300, 300))
    # the same as a G4 PDF with the words that Tesseract read, invisible, over them
    sh("tesseract", title("warranty-deed-g4-300dpi.tiff"), tmp("ocr"), "-l", "eng", "pdf")
    shutil.copy(tmp("ocr.pdf"), title("warranty-deed-g4-ocr-layer.pdf"))
    # the same as JPEG pages without a text layer, at 100 dpi to stay small
    js = []
    for i, p in enumerate(pages):
        g = p.resize((p.width // 3, p.height // 3), Image.LANCZOS)
        n = Image.effect_noise(g.size, 9)
        g = ImageChops.multiply(g.point(lambda v: int(20 + v * 0.86)), n.point(lambda v: min(255, 200 + v // 3)))
        g.save(tmp("j%d.jpg" % i), quality=30, dpi=(100, 100))
        js.append(tmp("j%d.jpg" % i))
    with open(title("warranty-deed-scan-100dpi.pdf"), "wb") as f:
        f.write(img2pdf.convert(js, nodate=True))
    # other containers of single pages
    sh("tiffcp", "-8", "-c", "g4", title("warranty-deed-g4-300dpi.tiff"), title("warranty-deed-bigtiff.tif"))
    half = [p.resize((p.width // 2, p.height // 2), Image.LANCZOS) for p in pages]
    half[1] = half[1].point(lambda v: v & 0xF0)
    half[0].point(lambda v: v & 0xC0).save(tmp("a.tif"), compression="raw", dpi=(150, 150))
    half[3].point(lambda v: v & 0xC0).save(tmp("b.tif"), compression="raw", dpi=(150, 150))
    sh("tiffcp", "-c", "lzw:2", tmp("a.tif"), tmp("b.tif"), title("deed-pages-lzw.tif"))
    bw[1].save(title("deed-page-2-legal-description.png"), dpi=(300, 300), optimize=True)
    half[3].point(lambda v: 255 if v > 128 else 0).convert("1").save(title("deed-page-4-acknowledgment.bmp"), dpi=(150, 150))
    phone(pages[0])
    return pages


def phone(page):
    """A photograph of the page on a desk: perspective, shade, blur, stored sideways with an EXIF orientation."""
    W, H = 1512, 2016
    desk = Image.new("RGB", (W, H))
    d = ImageDraw.Draw(desk)
    for x in range(W):
        k = RND.randrange(-6, 7) + int(14 * math.sin(x / 37.0))
        d.line((x, 0, x + 30, H), fill=(112 + k, 78 + k, 50 + k))
    p = page.resize((1275, 1650), Image.LANCZOS).convert("RGB")
    quad = [(150, 180), (1395, 130), (1450, 1850), (90, 1790)]  # where the page's corners land
    co = coeffs(quad, [(0, 0), (1275, 0), (1275, 1650), (0, 1650)])
    warp = p.transform((W, H), Image.PERSPECTIVE, co, Image.BICUBIC)
    mask = Image.new("L", p.size, 255).transform((W, H), Image.PERSPECTIVE, co, Image.BICUBIC)
    desk.paste(warp, (0, 0), mask)
    shade = Image.linear_gradient("L").resize((3 * H, 3 * H)).rotate(35, Image.BICUBIC)
    shade = shade.crop(((3 * H - W) // 2, H, (3 * H - W) // 2 + W, 2 * H)).point(lambda v: min(255, 120 + v * 3 // 4))
    desk = ImageChops.multiply(desk, Image.merge("RGB", (shade, shade, shade.point(lambda v: v * 235 // 255))))
    desk = desk.filter(ImageFilter.GaussianBlur(0.7)).transpose(Image.ROTATE_90)
    ex = Image.Exif()
    ex[0x0112], ex[0x010F], ex[0x0110], ex[0x0132] = 6, "Example", "Phone 1", "2019:04:18 09:12:44"
    desk.save(title("recorded-deed-phone-photo.jpg"), quality=72, exif=ex)


def coeffs(dst, src):
    """The eight numbers Pillow's PERSPECTIVE wants, by Gaussian elimination."""
    m = []
    for (x, y), (u, v) in zip(dst, src):
        m.append([x, y, 1, 0, 0, 0, -u * x, -u * y, u])
        m.append([0, 0, 0, x, y, 1, -v * x, -v * y, v])
    for i in range(8):
        k = max(range(i, 8), key=lambda r: abs(m[r][i]))
        m[i], m[k] = m[k], m[i]
        m[i] = [v / m[i][i] for v in m[i]]
        for r in range(8):
            if r != i:
                m[r] = [a - m[r][i] * b for a, b in zip(m[r], m[i])]
    return [r[8] for r in m]


# ---- mortgage ------------------------------------------------------------------------------------------------
COVENANTS = [
    ("Payment", "Mortgagor shall pay when due the principal of, and interest on, the debt evidenced by the Note, and any late charge and prepayment charge due under it. Payments are to be made in United States currency at the place that Mortgagee last named in writing, and are deemed received when they arrive there."),
    ("Application of Payments", "Each payment accepted by Mortgagee is applied first to interest, then to principal, then to amounts for escrow items, and last to other sums secured by this Mortgage, in the order in which each fell due. Any excess reduces the principal balance."),
    ("Funds for Taxes and Insurance", "Together with each monthly payment Mortgagor shall pay one-twelfth of the yearly real estate taxes, water and sewer rents, ground rents and hazard insurance premiums. Mortgagee shall account for such funds once a year without charge, and shall return any surplus within thirty days."),
    ("Liens", "Mortgagor shall pay all taxes, assessments and municipal claims that may attain priority over this Mortgage, and shall promptly discharge any lien of record unless it is contested in good faith by proceedings that stop its enforcement."),
    ("Property Insurance", "The improvements now existing or hereafter erected shall be kept insured against loss by fire, flood where the flood maps require it, and the hazards within the term extended coverage. All policies name Mortgagee as loss payee, and may not be cancelled without ten days' notice."),
    ("Occupancy and Preservation", "Mortgagor shall not commit waste, shall keep the premises in good repair, and shall permit Mortgagee to enter upon reasonable notice for the purpose of inspection. Timber shall not be cut except for ordinary husbandry of the orchard."),
    ("Environmental Matters", "No hazardous substance shall be stored or released upon the premises save small quantities customary to an orchard. Mortgagor shall notify Mortgagee of any inquiry by a governmental authority, and shall take all remedial action that the law requires at its own expense."),
    ("Assignment of Rents", "As additional security Mortgagor assigns to Mortgagee the rents of the premises, including the cell tower lease recorded in Deed Book 2290, Page 0031, provided that before default Mortgagor may collect and keep them as they become due."),
    ("Condemnation", "The proceeds of any award for the taking of the whole or a part of the premises, or for conveyance in lieu of condemnation, are assigned and shall be paid to Mortgagee, and applied to the sums secured, whether or not then due."),
    ("Forbearance Not a Waiver", "Extension of the time for payment does not release the liability of the original Mortgagor. Any forbearance in exercising a right or remedy is not a waiver of that right or remedy."),
    ("Successors and Assigns", "The covenants herein bind and benefit the successors and assigns of Mortgagee and Mortgagor, subject to the paragraph on transfer. Where there is more than one Mortgagor their obligations are joint and several."),
    ("Transfer of the Property", "If all or any part of the premises, or a beneficial interest in Mortgagor, is sold or transferred without prior written consent, Mortgagee may require immediate payment in full of all sums secured, upon thirty days' notice."),
    ("Acceleration and Remedies", "Upon default, after notice of intention to foreclose as the statute requires, Mortgagee may declare all sums immediately due, and may foreclose this Mortgage by judicial proceeding, with costs of title evidence and a reasonable attorney's commission of five percent."),
    ("Release", "Upon payment of all sums secured this Mortgage shall be satisfied of record within sixty days at Mortgagee's expense, by an instrument in recordable form that names the book and page of this Mortgage."),
    ("Open-End Advances", "This is an open-end mortgage. It secures future advances up to a maximum principal indebtedness outstanding at any time of Four Hundred Thousand Dollars ($400,000.00), plus accrued interest, taxes, and sums paid to protect the premises."),
]


def mortgage():
    lead = 18.0
    while mortgage_pages(lead) < 12:  # double-spaced as instruments are, until it fills its twelve pages
        lead += 0.5
    with pikepdf.open(tmp("m.pdf")) as p:
        if len(p.pages) != 12:
            sys.exit("mortgage has %d pages, want 12" % len(p.pages))
    sh("qpdf", "--linearize", "--object-streams=generate", "--deterministic-id", tmp("m.pdf"), title("open-end-mortgage.pdf"))


def mortgage_pages(lead):
    b, h, c = styles("Serif", 12, lead)

    def foot(cv, doc):
        cv.setFont("Serif", 9)
        cv.drawString(80, 40, "Open-End Mortgage - Brindlewood Orchard Holdings, LLC to Tollgate Savings Bank")
        cv.drawRightString(540, 40, "Page %d of 12" % doc.page)
        cv.setFont("SerifB", 9)
        cv.drawRightString(540, 760, "Book 2417 Page %04d" % (886 + doc.page))

    s = [Paragraph("OPEN-END MORTGAGE", h), Paragraph("(This instrument secures future advances)", c),
         Paragraph("THIS MORTGAGE is made April 15, 2019 between " + GRANTEE + ", of 1200 Tollgate Parade, Suite 4, Merriweather, Pennsylvania (Mortgagor), and TOLLGATE SAVINGS BANK, a Pennsylvania banking institution, of 9 Exchange Court, Merriweather, Pennsylvania (Mortgagee).", b),
         Paragraph("WHEREAS Mortgagor is indebted to Mortgagee in the principal sum of THREE HUNDRED TEN THOUSAND AND 00/100 DOLLARS ($310,000.00), evidenced by a promissory note of even date, with interest at 4.875 percent per annum, the unpaid balance being due and payable on May 1, 2049.", b)]
    for i, (t, x) in enumerate(COVENANTS, 1):
        s.append(Paragraph("<b>%d. %s.</b> %s" % (i, t, x), b))
        s.append(Paragraph("(a) Nothing in the paragraph headed <i>%s</i> limits any other right that Mortgagee has by law or under this instrument. (b) A notice under it is given when mailed to the address stated above, Attention: Closing Department, File No. TT-2019-%04d. (c) Sums that Mortgagee advances under it bear interest at the Note rate, are payable on demand, and are secured by this Mortgage with the priority of its date of recording." % (t.lower(), 400 + i * 13), b))
    s += [PageBreak(), Paragraph("EXHIBIT A - LEGAL DESCRIPTION", h)] + [Paragraph(x, b) for x in metes()]
    s += [PageBreak(), Paragraph("SIGNATURES AND ACKNOWLEDGMENT", h), Paragraph("BRINDLEWOOD ORCHARD HOLDINGS, LLC", b), Spacer(1, 30), Paragraph("By: ______________________________ Cornelius Vantongeren, Managing Member", b),
          Paragraph("COMMONWEALTH OF PENNSYLVANIA, COUNTY OF WEXCOMBE, SS: On this 15th day of April, 2019, before me appeared Cornelius Vantongeren, who acknowledged himself to be the Managing Member of Brindlewood Orchard Holdings, LLC, and that he, being authorized to do so, executed the foregoing instrument.", b),
          Spacer(1, 20), Paragraph("Prudence A. Wickersham, Notary Public", b)]
    d = SimpleDocTemplate(tmp("m.pdf"), pagesize=letter, leftMargin=80, rightMargin=72, topMargin=66, bottomMargin=66, title="Open-End Mortgage", author="Tollgate Savings Bank")
    d.build(s, onFirstPage=foot, onLaterPages=foot)
    with pikepdf.open(tmp("m.pdf")) as p:
        return len(p.pages)


# ---- text ----------------------------------------------------------------------------------------------------
def texts():
    t = """JUDGMENT AND LIEN SEARCH                                    File No. TT-2019-0417
Tollgate Title Abstracting, 14 Exchange Court, Merriweather, Pennsylvania

Searched:   Prothonotary of Wexcombe County; Clerk of Courts; Tax Claim Bureau
Period:     April 16, 2009 through April 16, 2019, 8:00 a.m.
Names:      QUILLFEATHER, Harlan T.
            QUILLFEATHER, Odessa M.  (a/k/a Odessa Mae Quillfeather, n\u00e9e Marchbanks-Ib\u00e1\u00f1ez)
            BRINDLEWOOD ORCHARD HOLDINGS, LLC

Docket            Filed        Plaintiff                      Amount       Status
2011-CV-00418     03/22/2011   Gossamer Valley Hospital       $ 2,114.09   Satisfied 09/02/2013
2014-ML-00077     06/30/2014   Nether Gossamer Twp. Authority $   318.55   OPEN \u2013 sewer lien
2016-FTL-0019     01/11/2016   Commonwealth, Dept. of Revenue $ 4,870.00   Released 12/19/2017

Remarks: See 42 Pa.C.S. \u00a7 4303. The municipal lien at 2014-ML-00077 \u201cruns with the land\u201d and
must be satisfied at or before closing. No bankruptcies found. The caf\u00e9 licence is not a lien.
"""
    crlf = t.replace("\n", "\r\n")
    write(title("judgment-search-utf8.txt"), t.encode("utf-8"))
    write(title("judgment-search-windows-1252.txt"), crlf.encode("cp1252"))
    write(title("judgment-search-utf16le.txt"), b"\xff\xfe" + crlf.encode("utf-16-le"))


# ---- office --------------------------------------------------------------------------------------------------
def zipped(path, parts, first="[Content_Types].xml"):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as z:
        for n in sorted(parts, key=lambda k: (k != first, k)):
            i = zipfile.ZipInfo(n, (2019, 4, 17, 10, 42, 16))
            i.compress_type, i.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            z.writestr(i, parts[n])


def esc(s):
    return s.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


X = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
REL = "http://schemas.openxmlformats.org/package/2006/relationships"
ODR = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
CORE = X + '<cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties" xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>%s</dc:title><dc:creator>Tollgate Title Abstracting</dc:creator></cp:coreProperties>'


def rels(main):
    return X + '<Relationships xmlns="%s"><Relationship Id="r1" Type="%s/officeDocument" Target="%s"/><Relationship Id="r2" Type="http://schemas.openxmlformats.org/package/2006/relationships/metadata/core-properties" Target="docProps/core.xml"/></Relationships>' % (REL, ODR, main)


def ctypes(over):
    return X + '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/docProps/core.xml" ContentType="application/vnd.openxmlformats-package.core-properties+xml"/>' + "".join('<Override PartName="%s" ContentType="application/vnd.openxmlformats-officedocument.%s+xml"/>' % o for o in over) + "</Types>"


CHAIN = [
    ("1", "Deed", "212", "77", "06/30/1921", "07/02/1921", "Ambrose Lanternhouse", "Silas Pennyfarthing", "Reserves coal, oil and gas"),
    ("2", "Right of Way", "0877", "0412", "05/14/1956", "05/21/1956", "Silas Pennyfarthing", "Gossamer Valley Electric Cooperative", "30 ft, pole line"),
    ("3", "Deed of Distribution", "0955", "0103", "11/02/1971", "11/09/1971", "Estate of Silas Pennyfarthing", "Eudora Pennyfarthing", "Estate File 71-0318"),
    ("4", "Warranty Deed", "1106", "0241", "09/03/1998", "09/08/1998", "Eudora Pennyfarthing, widow", "Harlan T. & Odessa M. Quillfeather", ""),
    ("5", "Oil and Gas Lease", "2033", "0555", "08/19/2009", "10/01/2009", "Harlan T. & Odessa M. Quillfeather", "Stonebriar Exploration, LP", "5 yr primary term; no production found"),
    ("6", "Memorandum of Lease", "2290", "0031", "02/02/2015", "02/20/2015", "Harlan T. & Odessa M. Quillfeather", "Skylark Tower Sites, Inc.", "Cell tower"),
    ("7", "Surrender of Lease", "2301", "0718", "06/01/2015", "06/12/2015", "Stonebriar Exploration, LP", "Harlan T. & Odessa M. Quillfeather", "Surrenders item 5"),
    ("8", "General Warranty Deed", "2417", "0883", "04/15/2019", "04/17/2019", "Harlan T. & Odessa M. Quillfeather", "Brindlewood Orchard Holdings, LLC", "Vesting deed"),
    ("9", "Open-End Mortgage", "2417", "0887", "04/15/2019", "04/17/2019", "Brindlewood Orchard Holdings, LLC", "Tollgate Savings Bank", "$310,000.00"),
]
HEAD = ("No.", "Instrument", "Book", "Page", "Dated", "Recorded", "Grantor", "Grantee", "Remarks")


def runsheet(path, name):
    strs, idx = [], {}

    def si(v):
        if v not in idx:
            idx[v] = len(strs)
            strs.append(v)
        return idx[v]

    def sheet(rows):
        o = []
        for r, row in enumerate(rows, 1):
            o.append('<row r="%d">' % r + "".join('<c r="%s%d" t="s"><v>%d</v></c>' % (chr(65 + c), r, si(v)) for c, v in enumerate(row) if v) + "</row>")
        return X + '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>' + "".join(o) + "</sheetData></worksheet>"

    s1 = sheet([("RUNSHEET", "", "Tax Map " + TAXMAP), ("Nether Gossamer Township, " + COUNTY,), HEAD] + CHAIN)
    s2 = sheet([("Exception", "Source"), ("Coal, oil and gas severed", "212/77"), ("30 ft right of way", "0877/0412"), ("Sewer lien OPEN", "2014-ML-00077")])
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    zipped(path, {
        "[Content_Types].xml": ctypes([("/xl/workbook.xml", "spreadsheetml.sheet.main"), ("/xl/worksheets/sheet1.xml", "spreadsheetml.worksheet"), ("/xl/worksheets/sheet2.xml", "spreadsheetml.worksheet"), ("/xl/sharedStrings.xml", "spreadsheetml.sharedStrings")]),
        "_rels/.rels": rels("xl/workbook.xml"), "docProps/core.xml": CORE % name,
        "xl/workbook.xml": X + '<workbook xmlns="%s" xmlns:r="%s"><sheets><sheet name="Chain of Title" sheetId="1" r:id="rId1"/><sheet name="Exceptions" sheetId="2" r:id="rId2"/></sheets></workbook>' % (main, ODR),
        "xl/_rels/workbook.xml.rels": X + '<Relationships xmlns="%s">' % REL + "".join('<Relationship Id="rId%d" Type="%s/%s" Target="%s"/>' % (i, ODR, t, g) for i, (t, g) in enumerate((("worksheet", "worksheets/sheet1.xml"), ("worksheet", "worksheets/sheet2.xml"), ("sharedStrings", "sharedStrings.xml")), 1)) + "</Relationships>",
        "xl/worksheets/sheet1.xml": s1, "xl/worksheets/sheet2.xml": s2,
        "xl/sharedStrings.xml": X + '<sst xmlns="%s" count="%d" uniqueCount="%d">' % (main, len(strs), len(strs)) + "".join("<si><t>%s</t></si>" % esc(v) for v in strs) + "</sst>",
    })


def report(path):
    def p(t, b=False):
        return '<w:p><w:r>%s<w:t xml:space="preserve">%s</w:t></w:r></w:p>' % ("<w:rPr><w:b/></w:rPr>" if b else "", esc(t))

    def tbl(rows):
        return "<w:tbl><w:tblPr><w:tblW w:w=\"0\" w:type=\"auto\"/></w:tblPr><w:tblGrid>" + "<w:gridCol/>" * len(rows[0]) + "</w:tblGrid>" + "".join("<w:tr>" + "".join("<w:tc>" + p(c) + "</w:tc>" for c in r) + "</w:tr>" for r in rows) + "</w:tbl>"

    body = p("REPORT OF TITLE", True) + p("File No. TT-2019-0417. Effective date: April 17, 2019 at 8:00 a.m.") + p("Title is vested in: " + GRANTEE + ", by deed recorded in Deed Book 2417, Page 0883.")
    body += p("CHAIN OF TITLE", True) + tbl([HEAD] + CHAIN) + p("SCHEDULE B - EXCEPTIONS", True)
    for x in ("1. Coal, oil, gas and minerals severed by Deed Book 212, Page 77.", "2. Right of way to Gossamer Valley Electric Cooperative, Deed Book 0877, Page 0412.", "3. Municipal lien 2014-ML-00077, Nether Gossamer Township Authority, $318.55, to be satisfied at closing.", "4. Open-End Mortgage to Tollgate Savings Bank, $310,000.00, Book 2417, Page 0887."):
        body += p(x)
    body += p("LEGAL DESCRIPTION", True) + "".join(p(x) for x in metes())
    zipped(path, {
        "[Content_Types].xml": ctypes([("/word/document.xml", "wordprocessingml.document.main")]),
        "_rels/.rels": rels("word/document.xml"), "docProps/core.xml": CORE % "Report of Title",
        "word/document.xml": X + '<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>' + body + '<w:sectPr><w:pgSz w:w="12240" w:h="15840"/></w:sectPr></w:body></w:document>',
    })


def office():
    runsheet(title("runsheet.xlsx"), "Runsheet")
    report(title("title-report.docx"))
    if shutil.which("soffice"):
        sh("soffice", "-env:UserInstallation=file://" + tmp("lo"), "--headless", "--convert-to", "doc:MS Word 97", "--outdir", TMP, title("title-report.docx"))
        shutil.copy(tmp("title-report.doc"), title("title-report.doc"))


# ---- plat ----------------------------------------------------------------------------------------------------
def plat():
    W, H = 36 * 72, 24 * 72
    c = canvas.Canvas(tmp("plat.pdf"), pagesize=(W, H), pageCompression=1)
    c.setTitle("Plan of Brindlewood Orchard, Section Two")
    c.setLineWidth(3)
    c.rect(36, 36, W - 72, H - 72)
    c.setLineWidth(0.25)
    c.setStrokeColorRGB(0.55, 0.4, 0.25)
    for k in range(60):  # contours
        ph = k * 0.31
        p = c.beginPath()
        for i in range(0, 401):
            x = 60 + i * (1900 / 400.0)
            y = 100 + k * 26 + 22 * math.sin(i / 31.0 + ph) + 9 * math.sin(i / 7.3 + 2 * ph)
            (p.moveTo if i == 0 else p.lineTo)(x, y)
        c.drawPath(p)
    c.setStrokeColorRGB(0, 0, 0)
    k, ox, oy = 1.9, 330, 1330
    pt = [(ox + x * k, oy + y * k) for x, y in CORNERS]
    c.setLineWidth(2.2)
    p = c.beginPath()
    p.moveTo(*pt[0])
    for q in pt[1:]:
        p.lineTo(*q)
    p.close()
    c.drawPath(p)
    c.setFont("Sans", 13)
    for i, a in enumerate(CORNERS):
        b = bearing(a, CORNERS[(i + 1) % len(CORNERS)])
        q, r = pt[i], pt[(i + 1) % len(pt)]
        c.saveState()
        c.translate((q[0] + r[0]) / 2, (q[1] + r[1]) / 2)
        an = math.degrees(math.atan2(r[1] - q[1], r[0] - q[0]))
        c.rotate(an + 180 if abs(an) > 90 else an)
        c.drawCentredString(0, 6, "%s %d\u00b0%02d'%02d\" %s  %.2f'" % (b[0][0], b[1], b[2], b[3], b[4][0], b[5]))
        c.restoreState()
        c.circle(q[0], q[1], 5)
    c.setLineWidth(0.8)
    for i in range(1, 9):  # lots
        t = i / 9.0
        u = (pt[0][0] + (pt[3][0] - pt[0][0]) * t, pt[0][1] + (pt[3][1] - pt[0][1]) * t)
        c.line(u[0], u[1], u[0] - 190, u[1] - 260)
        c.setFont("SansB", 20)
        c.drawString(u[0] - 120, u[1] - 90, "LOT %d" % i)
        c.setFont("Sans", 11)
        c.drawString(u[0] - 130, u[1] - 110, "%.3f ACRES" % (0.5 + 0.071 * i))
    x = 2010
    c.setFont("SansB", 34)
    c.drawString(x, 1620, "FINAL PLAT")
    c.setFont("SansB", 24)
    c.drawString(x, 1580, "BRINDLEWOOD ORCHARD")
    c.drawString(x, 1550, "SECTION TWO")
    c.setFont("Sans", 14)
    for i, t in enumerate(("Nether Gossamer Township, " + COUNTY + ", Pennsylvania", "Tax Map Parcel " + TAXMAP, "Owner: Brindlewood Orchard Holdings, LLC", "Fennimore & Gale Land Surveyors", "Scale: 1 inch = 50 feet     Date: March 11, 2019", "Sheet 1 of 1     Total area %.3f acres" % acres(), "", "RECORDER'S CERTIFICATE", "Recorded in Plan Book 58, Page 22, Instrument 201906040102211")):
        c.drawString(x, 1500 - i * 24, t)
    c.setFont("SansB", 14)
    c.drawString(x, 1230, "CURVE TABLE")
    c.setFont("Sans", 10)
    for i in range(40):
        r, d = 150 + 25 * (i % 9), 12 + i * 1.7
        c.drawString(x, 1205 - i * 15, "C%-3d  R=%.2f'   L=%.2f'   DELTA=%.4f   CH=%.2f'" % (i + 1, r, r * math.radians(d), d, 2 * r * math.sin(math.radians(d / 2))))
    c.setFont("SansB", 14)
    c.drawString(x, 540, "NOTES")
    c.setFont("Sans", 11)
    for i, t in enumerate(("1. Bearings are based on the 1998 survey recorded in Plan Book 31, Page 17.", "2. No portion lies within a mapped flood hazard area.", "3. Subject to a 30-foot right of way, Deed Book 0877, Page 0412.", "4. Building set-back lines: front 40', side 15', rear 35'.", "5. Iron pins set at all lot corners unless shown otherwise.")):
        c.drawString(x, 515 - i * 17, t)
    c.saveState()
    c.translate(2400, 330)
    c.line(0, -80, 0, 100)
    c.line(0, 100, -14, 60)
    c.line(0, 100, 14, 60)
    c.setFont("SansB", 30)
    c.drawCentredString(0, 112, "N")
    c.restoreState()
    c.showPage()
    c.save()
    shutil.copy(tmp("plat.pdf"), title("plat-24x36-vector.pdf"))
    im = raster(tmp("plat.pdf"), 50, "rgb")[0]
    im.quantize(16).save(title("plat-reduced.gif"))
    im2 = raster(tmp("plat.pdf"), 75, "rgb")[0].crop((2000, 0, 2700, 800))
    im2.save(title("plat-title-block.webp"), quality=80)


# ---- what is refused, or stands at a limit -------------------------------------------------------------------
def many_pages(path, n, image=None):
    """n pages that share what they show: text of one line each, or one G4 scan."""
    if image is None:
        c = canvas.Canvas(path, pagesize=letter, pageCompression=1)
        for i in range(1, n + 1):
            c.setFont("Helvetica", 12)
            c.drawString(72, 720, "Index of Deeds, Wexcombe County, page %d of %d" % (i, n))
            c.showPage()
        c.save()
        sh("qpdf", "--object-streams=generate", "--deterministic-id", path, path + ".q")
        os.replace(path + ".q", path)
        return
    one = img2pdf.convert(image, nodate=True)
    with pikepdf.open(io.BytesIO(one)) as src:
        page = src.pages[0]
        for _ in range(n - 1):
            src.pages.append(page)
        src.save(path, object_stream_mode=pikepdf.ObjectStreamMode.generate, static_id=True)


def raw_pdf(objs, root=1, head=b"%PDF-1.5\n%\xe2\xe3\xcf\xd3\n", base=0):
    o, off = bytearray(head), {}
    for n, b in objs:
        off[n] = len(o) + base
        o += b"%d 0 obj\n" % n + b + b"\nendobj\n"
    x = len(o) + base
    o += b"xref\n0 %d\n0000000000 65535 f \n" % (max(off) + 1)
    for n in range(1, max(off) + 1):
        o += b"%010d 00000 n \n" % off[n] if n in off else b"0000000000 00001 f \n"
    return bytes(o + b"trailer\n<</Size %d/Root %d 0 R>>\nstartxref\n%d\n%%%%EOF\n" % (max(off) + 1, root, x))


def rotated(path, n):
    """n pages of one line, each with /Rotate 90."""
    kids, objs = b"", []
    for i in range(n):
        page, text = 4 + 2 * i, 5 + 2 * i
        kids += b"%d 0 R " % page
        objs += [(page, b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Rotate 90/Resources<</Font<</F 3 0 R>>>>/Contents %d 0 R>>" % text),
                 (text, stream(b"", b"BT /F 24 Tf 72 700 Td (Index of Deeds, rotated page %d of %d) Tj ET" % (i + 1, n)))]
    head = [(1, b"<</Type/Catalog/Pages 2 0 R>>"), (2, b"<</Type/Pages/Kids[" + kids + b"]/Count %d>>" % n), (3, b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>")]
    write(path, raw_pdf(head + objs))


def stream(d, b):
    return b"<<" + d + b"/Length %d>>\nstream\n" % len(b) + b + b"\nendstream"


def zeros(n, byte=b" "):
    c, o, chunk = zlib.compressobj(9), [], byte * (1 << 20)
    for _ in range(n >> 20):
        o.append(c.compress(chunk))
    return b"".join(o) + c.flush()


def chunk(t, d):
    return struct.pack(">I", len(d)) + t + d + struct.pack(">I", zlib.crc32(t + d))


def refused():
    many_pages(title("index-of-deeds-500-pages.pdf"), 500)
    many_pages(refuse("index-of-deeds-501-pages.pdf"), 501)
    rotated(title("index-of-deeds-rotated.pdf"), 5)
    with Image.open(title("warranty-deed-g4-300dpi.tiff")) as im:
        im.seek(2)
        im.copy().save(tmp("one.tif"), compression="group4", dpi=(300, 300))
    many_pages(refuse("scan-301-pages.pdf"), 301, tmp("one.tif"))
    sh("qpdf", "--encrypt", "opensesame", "owner", "256", "--", title("open-end-mortgage.pdf"), refuse("mortgage-user-password.pdf"))
    b = open(title("warranty-deed-scan-100dpi.pdf"), "rb").read()
    write(refuse("truncated-scan-100dpi.pdf"), b[:20000])
    pages, cat = b"<</Type/Pages/Kids[]/Count 0>>", b"<</Type/Catalog/Pages 2 0 R>>"
    write(refuse("zero-pages.pdf"), raw_pdf([(1, cat), (2, pages)]))
    write(refuse("cyclic-page-tree.pdf"), raw_pdf([(1, cat), (2, b"<</Type/Pages/Kids[3 0 R]/Count 1>>"), (3, b"<</Type/Pages/Parent 2 0 R/Kids[2 0 R]/Count 1>>")]))
    write(refuse("empty.pdf"), b"")
    html = b"<!DOCTYPE html>\n<html><head><title>Deed viewer</title></head><body><p>The document is being prepared. Please sign in.</p><script>document.title='canary'</script></body></html>\n"
    write(refuse("web-page-named.pdf"), html)
    small = raw_pdf([(1, cat), (2, b"<</Type/Pages/Kids[3 0 R]/Count 1>>"), (3, b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Resources<</Font<</F<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>/Contents 4 0 R>>"), (4, stream(b"", b"BT /F 14 Tf 72 700 Td (Satisfaction Piece) Tj ET"))])
    write(refuse("pdf-named.docx"), small)
    pre = b"<!DOCTYPE html><html><body><script>document.title='canary'</script><!--\n"
    body = raw_pdf([(1, cat), (2, b"<</Type/Pages/Kids[3 0 R]/Count 1>>"), (3, b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]>>")], base=len(pre))
    write(refuse("polyglot-html.pdf"), pre + body + b"--></body></html>\n")
    shutil.copy(title("title-report.docx"), refuse("docx-named.pdf"))
    zipped(refuse("zip-named.xlsx"), {"readme.txt": "Not a workbook.\n", "deed.txt": "Deed Book 2417, Page 0883\n"}, first="readme.txt")
    # an MS-DOS program of five instructions: it prints a line and ends
    code = b"\x0e\x1f\xba\x0e\x00\xb4\x09\xcd\x21\xb8\x00\x4c\xcd\x21" + b"Nothing to see here.\r\n$"
    size = 32 + len(code)
    exe = struct.pack("<2sHHHHHHHHHHHHH", b"MZ", size, 1, 0, 2, 16, 0xFFFF, 0, 0x100, 0, 0, 0, 28, 0) + b"\0" * 4 + code
    write(refuse("setup.exe"), exe)
    write(refuse("program-named.txt"), exe)
    # bombs: small on disk, huge when unpacked
    z1 = zeros(1 << 30)
    z2 = zlib.compress(z1, 9)
    page = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Resources<<>>/Contents 4 0 R>>"
    write(refuse("flate-bomb-content.pdf"), raw_pdf([(1, cat), (2, b"<</Type/Pages/Kids[3 0 R]/Count 1>>"), (3, page), (4, stream(b"/Filter[/FlateDecode/FlateDecode]", z2))]))
    objstm_bomb(refuse("flate-bomb-object-stream.pdf"))
    w, h = 60000, 60000
    rows, n = zlib.compressobj(9), []
    line = b"\0" + b"\0" * (w // 8)
    for _ in range(h):
        n.append(rows.compress(line))
    n.append(rows.flush())
    write(refuse("image-bomb-60000x60000.png"), b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", w, h, 1, 0, 0, 0, 0)) + chunk(b"IDAT", b"".join(n)) + chunk(b"IEND", b""))


def objstm_bomb(path):
    """Catalog and page tree sit in an object stream of 1 GiB of blanks."""
    objs = [b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Kids[3 0 R]/Count 1>>", b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]>>"]
    body, hdr = b"", b""
    for i, o in enumerate(objs, 1):
        hdr += b"%d %d " % (i, len(body) + (1 << 30))
        body += o + b" "
    c, o, blk = zlib.compressobj(9), [], b" " * (1 << 20)
    o.append(c.compress(hdr))
    for _ in range(1 << 10):
        o.append(c.compress(blk))
    o.append(c.compress(body) + c.flush())
    z = zlib.compress(b"".join(o), 9)
    out = bytearray(b"%PDF-1.5\n%\xe2\xe3\xcf\xd3\n")
    p4 = len(out)
    out += b"4 0 obj\n" + stream(b"/Type/ObjStm/N 3/First %d/Filter[/FlateDecode/FlateDecode]" % len(hdr), z) + b"\nendobj\n"
    p5 = len(out)
    x = b"\0\0\0\0\0\xff" + b"".join(b"\2" + struct.pack(">I", 4) + bytes([i]) for i in range(3)) + b"\1" + struct.pack(">I", p4) + b"\0" + b"\1" + struct.pack(">I", p5) + b"\0"
    out += b"5 0 obj\n" + stream(b"/Type/XRef/Size 6/W[1 4 1]/Root 1 0 R", x) + b"\nendobj\nstartxref\n%d\n%%%%EOF\n" % p5
    write(path, bytes(out))


PACKED = ("title/deed-page-4-acknowledgment.bmp", "title/deed-pages-lzw.tif", "title/index-of-deeds-500-pages.pdf", "title/title-report.doc",
          "refuse/index-of-deeds-501-pages.pdf", "refuse/image-bomb-60000x60000.png")


def pack(path):
    with open(path, "rb") as f:
        write(path + ".gz", gzip.compress(f.read(), 9, mtime=0))
    os.remove(path)


if __name__ == "__main__":
    Image.MAX_IMAGE_PIXELS = None
    for d in ("title", "refuse"):
        os.makedirs(os.path.join(OUT, d), exist_ok=True)
    deed()
    mortgage()
    texts()
    office()
    plat()
    refused()
    for name in PACKED:
        if os.path.exists(os.path.join(OUT, name)):  # the .doc needs LibreOffice
            pack(os.path.join(OUT, name))
    shutil.rmtree(TMP)
