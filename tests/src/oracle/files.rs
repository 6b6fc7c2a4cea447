//! The program's file and the standard library, parsed, and which names mean what in which of them.

use super::{Result, Stop};
use ssl_compiler::builtins::library::LIBRARY;
use ssl_compiler::diagnostics::Diagnostics;
use ssl_compiler::source::SourceMap;
use ssl_compiler::syntax::ast::{Declaration, Declarator, FunctionDecl, Item, StructDecl, TypeName};
use ssl_compiler::syntax::parse;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// The program itself.
pub const ROOT: usize = 0;

#[derive(Default)]
struct Scope {
    functions: HashMap<String, Vec<Rc<FunctionDecl>>>,
    structs: HashMap<String, Rc<StructDecl>>,
    /// Of a struct's name and a method's: those of the struct, and those that an interface gives it.
    methods: HashMap<(String, String), Rc<FunctionDecl>>,
    /// Of each interface, the struct that conforms first.
    first: HashMap<String, String>,
    constants: HashMap<String, Rc<(TypeName, Declarator)>>,
    textures: HashSet<String>,
    imports: Vec<usize>,
}

pub struct Files {
    scopes: Vec<Scope>,
    /// Names of the types of globals.
    pub globals: HashMap<String, String>,
}

thread_local! {
    /// The standard library does not change, so each thread reads it once.
    static LIBRARY_ITEMS: Rc<Vec<Vec<Item>>> = Rc::new(LIBRARY.iter().map(|f| items(f.text).unwrap_or_default()).collect());
}

fn items(text: &str) -> Result<Vec<Item>> {
    let (mut sources, mut diagnostics) = (SourceMap::new(), Diagnostics::new());
    let file = sources.add("program.ssl", text);
    let parsed = parse(&sources, file, &mut diagnostics);
    if diagnostics.has_errors() { Err(Stop::unknown("the program does not parse")) } else { Ok(parsed.items) }
}

/// Where a file of the library stands among the scopes.
fn library_file(path: &str) -> Option<usize> {
    let name = path.strip_prefix("std/").unwrap_or(path);
    LIBRARY.iter().position(|f| f.name == name).map(|i| i + 1)
}

impl Scope {
    /// The methods of structs. No interface of a generated program inherits from another one.
    fn add_methods(&mut self, items: &[Item]) {
        let interfaces = |name: &str| {
            items.iter().find_map(|item| match item {
                Item::Interface(interface) if interface.name.text == name => Some(interface),
                _ => None,
            })
        };
        for item in items {
            let Item::Struct(s) = item else { continue };
            let given: Vec<_> = s.body.interfaces.iter().filter_map(|name| interfaces(&name.text)).collect();
            for interface in &given {
                self.first.entry(interface.name.text.clone()).or_insert_with(|| s.name.text.clone());
            }
            // Those of the struct come first.
            let methods = s.body.methods.iter().chain(given.iter().flat_map(|interface| &interface.methods));
            for method in methods.filter(|m| m.function.body.is_some()) {
                let key = (s.name.text.clone(), method.function.name.text.clone());
                self.methods.entry(key).or_insert_with(|| Rc::new(method.function.clone()));
            }
        }
    }
}

impl Files {
    pub fn new(source: &str) -> Result<Files> {
        let mut files = Files { scopes: Vec::new(), globals: HashMap::new() };
        let root = items(source)?;
        files.add(&root);
        let library = LIBRARY_ITEMS.with(Rc::clone);
        for items in library.iter() {
            files.add(items);
        }
        Ok(files)
    }

    fn add(&mut self, items: &[Item]) {
        let mut scope = Scope::default();
        for item in items {
            match item {
                Item::Import(import) => scope.imports.extend(library_file(&import.path)),
                Item::Function(f) if f.body.is_some() => {
                    scope.functions.entry(f.name.text.clone()).or_default().push(Rc::new(f.clone()));
                }
                // No generated program has these, and the library does without.
                Item::Function(_) | Item::Test(_) | Item::Typedef(_) | Item::Enum(_) => {}
                Item::Interface(_) | Item::Extension(_) => {}
                Item::Struct(s) => {
                    scope.structs.insert(s.name.text.clone(), Rc::new(s.clone()));
                }
                Item::Variable(d) if d.ty.name.text == "texture2d" => {
                    scope.textures.extend(d.declarators.iter().map(|d| d.name.text.clone()));
                }
                Item::Variable(Declaration { ty, declarators, .. }) => {
                    for d in declarators {
                        scope.constants.insert(d.name.text.clone(), Rc::new((ty.clone(), d.clone())));
                    }
                }
                Item::Globals(list) => {
                    for d in list {
                        let names = d.declarators.iter().map(|x| (x.name.text.clone(), d.ty.name.text.clone()));
                        self.globals.extend(names);
                    }
                }
            }
        }
        scope.add_methods(items);
        self.scopes.push(scope);
    }

    pub fn shader(&self, name: &str) -> Result<Rc<FunctionDecl>> {
        let found = self.scopes[ROOT].functions.get(name).and_then(|list| list.iter().find(|f| f.is_shader));
        found.cloned().ok_or_else(|| Stop::unknown(format!("there is no shader `{name}`")))
    }

    /// A file and all that it imports, nearest first.
    fn seen_from(&self, file: usize) -> Vec<usize> {
        let mut order = vec![file];
        let mut next = 0;
        while let Some(&file) = order.get(next) {
            for &import in &self.scopes[file].imports {
                if !order.contains(&import) {
                    order.push(import);
                }
            }
            next += 1;
        }
        order
    }

    fn find<T>(&self, file: usize, pick: impl Fn(&Scope) -> Option<T>) -> Option<(usize, T)> {
        self.seen_from(file).into_iter().find_map(|f| pick(&self.scopes[f]).map(|found| (f, found)))
    }

    pub fn structure(&self, file: usize, name: &str) -> Option<(usize, Rc<StructDecl>)> {
        self.find(file, |s| s.structs.get(name).cloned())
    }

    pub fn method(&self, file: usize, of: &str, name: &str) -> Option<Rc<FunctionDecl>> {
        let key = (of.to_owned(), name.to_owned());
        self.find(file, |s| s.methods.get(&key).cloned()).map(|(_, method)| method)
    }

    /// The struct that conforms first to an interface of this name.
    pub fn first_to_conform(&self, file: usize, interface: &str) -> Option<String> {
        self.find(file, |s| s.first.get(interface).cloned()).map(|(_, name)| name)
    }

    pub fn constant(&self, file: usize, name: &str) -> Option<(usize, Rc<(TypeName, Declarator)>)> {
        self.find(file, |s| s.constants.get(name).cloned())
    }

    pub fn is_texture(&self, file: usize, name: &str) -> bool {
        self.find(file, |s| s.textures.get(name).map(|_| ())).is_some()
    }

    /// The functions of a name that a file sees as its own, or else those of the library.
    pub fn functions(&self, file: usize, name: &str) -> Vec<(usize, Rc<FunctionDecl>)> {
        let of = |f: usize| self.scopes[f].functions.get(name).into_iter().flatten().map(move |d| (f, d.clone()));
        let own: Vec<_> = self.seen_from(file).into_iter().flat_map(of).collect();
        if !own.is_empty() {
            return own;
        }
        let offering = LIBRARY.iter().position(|f| f.functions.contains(&name));
        offering.into_iter().flat_map(|i| of(i + 1)).collect()
    }
}
