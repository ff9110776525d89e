//! Configurations of the testbed's nodes, rendered from its templates as the testbed renders them.

use minijinja::value::Value;
use minijinja::{Environment, Error, ErrorKind, UndefinedBehavior};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use yaml_rust2::{Yaml, YamlLoader};

type Variables = BTreeMap<String, Value>;

/// Variables of all hosts, by the names of their files.
pub(super) struct Templates {
    hosts: BTreeMap<String, Variables>,
    environment: Environment<'static>,
}

/// Templates that are rendered, below the folder of the testbed.
pub(super) const NFD_CONF: &str = "templates/nfd/nfd.conf.j2";
pub(super) const NFD_INIT: &str = "templates/nfd/nfd-init.sh.j2";

impl Templates {
    /// Reads templates and variables from a clone of the testbed.
    ///
    /// # Errors
    /// Names the file that cannot be read.
    pub(super) fn read(testbed: &Path) -> Result<Self, String> {
        let mut environment = Environment::new();
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        // The templates call a method of Python.
        environment.set_unknown_method_callback(|state, value, method, _| match method {
            "items" => state.apply_filter("items", std::slice::from_ref(value)),
            other => Err(Error::new(ErrorKind::UnknownMethod, other.to_owned())),
        });
        for name in [NFD_CONF, NFD_INIT] {
            let text = read(&testbed.join(name))?;
            environment.add_template_owned(name, text).map_err(|error| format!("{name}: {error:#}"))?;
        }
        let config = yaml(&testbed.join("config.yml"))?;
        let globals = variables(&config["globals"]).ok_or("config.yml of the testbed has no globals")?;
        let folder = testbed.join("host_vars");
        let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
        let mut hosts = BTreeMap::new();
        for entry in fs::read_dir(&folder).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let mut host =
                variables(&yaml(&path)?).ok_or_else(|| format!("{}: no variables", path.display()))?;
            host.insert("inventory_hostname".to_owned(), name.as_str().into());
            host.extend(globals.clone());
            hosts.insert(name, host);
        }
        Ok(Self { hosts, environment })
    }

    /// Names of the hosts, sorted.
    pub(super) fn hosts(&self) -> Vec<&str> {
        self.hosts.keys().map(String::as_str).collect()
    }

    /// Renders a template for a host.
    ///
    /// # Errors
    /// The template needs a variable that the host lacks.
    pub(super) fn render(&self, template: &str, host: &str) -> Result<String, String> {
        let failed = |error: Error| format!("{template} for {host}: {error:#}");
        let mut variables = self.hosts.get(host).cloned().ok_or_else(|| format!("no host {host}"))?;
        variables.insert("hostvars".to_owned(), self.hosts.clone().into());
        let template = self.environment.get_template(template).map_err(failed)?;
        template.render(variables).map_err(failed)
    }
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

fn yaml(path: &Path) -> Result<Yaml, String> {
    let failed = |why: &str| format!("{}: {why}", path.display());
    let documents = YamlLoader::load_from_str(&read(path)?).map_err(|error| failed(&error.to_string()))?;
    documents.into_iter().next().ok_or_else(|| failed("empty"))
}

/// The entries of a map.
fn variables(yaml: &Yaml) -> Option<Variables> {
    let entries = yaml.as_hash()?.iter();
    Some(entries.filter_map(|(key, entry)| Some((key.as_str()?.to_owned(), value(entry)))).collect())
}

fn value(yaml: &Yaml) -> Value {
    match yaml {
        Yaml::Integer(number) => (*number).into(),
        Yaml::Real(text) => text.parse::<f64>().map_or_else(|_| text.as_str().into(), Value::from),
        Yaml::String(text) => text.as_str().into(),
        Yaml::Boolean(flag) => (*flag).into(),
        Yaml::Array(values) => values.iter().map(value).collect(),
        Yaml::Hash(_) => variables(yaml).unwrap_or_default().into(),
        _ => ().into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_gets_its_own_variables_and_those_of_its_neighbours() {
        let folder = std::env::temp_dir().join(format!("hashlane-templates-{}", std::process::id()));
        let write = |name: &str, text: &str| {
            let path = folder.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("config.yml", "globals:\n  udp_port: 6363\n");
        write("host_vars/A", "memsize: 4\nneighbors:\n  B:\n    link_cost: 28\n");
        write("host_vars/B", "memsize: 2\nhost_ip: 192.0.2.7\nneighbors: {}\n");
        write(NFD_CONF, "{% if memsize <= 2 %}\nsmall\n{% else %}\nlarge\n{% endif %}\n{{ udp_port }}");
        write(
            NFD_INIT,
            "{% for name, data in neighbors.items() %}\n{{ hostvars[name].host_ip }} {{ data['link_cost'] }}\n\
             {% endfor %}\n{{ inventory_hostname }}",
        );
        let templates = Templates::read(&folder).unwrap();
        assert_eq!(templates.hosts(), ["A", "B"]);
        let words = |template, host| {
            let text: String = templates.render(template, host).unwrap();
            text.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(words(NFD_CONF, "A"), ["large", "6363"]);
        assert_eq!(words(NFD_INIT, "A"), ["192.0.2.7", "28", "A"]);
        assert_eq!(words(NFD_INIT, "B"), ["B"]);
        write("host_vars/C", "site: /c\n");
        let error = Templates::read(&folder).unwrap().render(NFD_CONF, "C").unwrap_err();
        assert!(error.contains("for C: undefined value"), "{error}");
        fs::remove_dir_all(&folder).unwrap();
    }
}
